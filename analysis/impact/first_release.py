"""The releases that have a commit, or a pick of it on their own branch: by a mirror's tags, or by GitHub's releases."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache

from analysis.errors import MirrorUnavailable
from analysis.impact.reversal import picks
from analysis.models import Commit, Released, ReleaseTag, Repository
from analysis.sources.github import GitHub
from analysis.sources.mirror import Mirror

_SKEW = timedelta(days=30)  # by which a commit may be older than what it is built on
_MOST_COMPARED = 200  # commits of release branches whose patches are compared, the earliest
_MOST_BRANCHES = 5  # releases of which GitHub is asked for picks


def first_releases(mirror: Mirror, commits: Sequence[Commit], prefix: str | None = None) -> dict[str, Released]:
    """Return SHA -> which releases have each commit, by a mirror's tags and their dates; nothing if it has no tags.

    `prefix` is what the tags of the main releases begin with, if that is known.
    """
    tags = mirror.release_tags(prefix)
    if not tags or not commits:
        return {}
    having = _having(mirror, tags, commits, min(each.committed_at for each in commits) - _SKEW)

    @cache
    def released(places: int) -> Released:
        has = [bool(places >> place & 1) for place in range(len(tags))]
        return Released.by(
            [tag for tag, held in zip(tags, has, strict=True) if held],
            [tag for tag, held in zip(tags, has, strict=True) if not held],
        )

    return {each.sha: released(having[each.sha]) for each in commits}


def _having(
    mirror: Mirror, tags: Sequence[ReleaseTag], commits: Sequence[Commit], since: datetime
) -> Mapping[str, int]:
    """Return SHA -> the tags since an instant that have a commit or a pick of it, as the bits of their places."""
    places = [place for place, tag in enumerate(tags) if tag.date >= since]
    parents, picked = mirror.released_commits([tags[place] for place in places], since)
    having = defaultdict[str, int](int)
    for place in places:
        having[tags[place].sha] |= 1 << place
    for sha, older in parents.items():
        for parent in older:
            having[parent] |= having[sha]
    same_patch = _same_patch(mirror, commits, picked)
    for place in places:
        taken = picks((each for each in picked if having[each.sha] >> place & 1), same_patch)
        for each in commits:
            having[each.sha] |= taken.has(each) << place
    return having


def _same_patch(mirror: Mirror, commits: Sequence[Commit], picked: Sequence[Commit]) -> Mapping[str, Sequence[str]]:
    """Return the SHA of each pick -> the commits that have its patch; those whose files cannot be fetched are left out."""
    found = defaultdict[str, list[str]](list)
    with suppress(MirrorUnavailable):
        for pick, sha in mirror.same_patch(
            [each.sha for each in commits], [each.sha for each in picked[:_MOST_COMPARED]]
        ):
            found[pick].append(sha)
    return found


def first_release_at_github(
    github: GitHub, repository: Repository, commit: Commit, prefix: str | None = None
) -> Released:
    """Return which of GitHub's releases have a commit of the branch; unknown if there are none. Raise the errors of `GitHub`.

    It takes a request for the list, and one for each comparison: of the releases after the commit, by version, half are
    left after each. Of those before the one that is found, a few may have picked it.
    """
    tags = github.release_tags(repository, prefix)
    if not tags or commit.not_on:
        return Released()
    since = commit.committed_at - _SKEW

    def has(tag: ReleaseTag) -> bool:
        return tag.date >= since and github.is_ancestor(repository, commit.sha, tag.name)

    first = bisect_left(tags, 1, key=has)
    after = [tag for tag in tags[:first] if tag.date >= commit.committed_at][-_MOST_BRANCHES:]
    picked = [tag for tag in after if picks(github.compare(repository, commit.sha, tag.name).commits).has(commit)]
    having = [*picked, *tags[first:]]
    return Released.by(having, [each for each in tags if each not in having])
