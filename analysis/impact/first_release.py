"""The first release that has a commit, or a pick of it on its own branch."""

from collections.abc import Sequence
from datetime import timedelta

from analysis.impact.reversal import picks
from analysis.models import Commit, Released, ReleaseTag
from analysis.sources.mirror import Mirror

_SKEW = timedelta(days=30)  # by which a commit may be older than what it is built on


def first_releases(mirror: Mirror, commits: Sequence[Commit]) -> dict[str, Released]:
    """Return SHA -> in which release each commit was first, by the tags' dates; nothing if the mirror has no tags."""
    tags = mirror.release_tags()
    if not tags or not commits:
        return {}
    since = min(each.committed_at for each in commits) - _SKEW
    releases = sorted((each for each in tags if not each.is_candidate and each.date >= since), key=lambda tag: tag.date)
    parents, picked = mirror.released_commits(releases, since)
    found: dict[str, ReleaseTag] = {}
    for tag in releases:
        reached = [tag.sha]
        while reached:
            sha = reached.pop()
            if sha in parents and sha not in found:
                found[sha] = tag
                reached += parents[sha]
    for tag in reversed(releases):  # so that the earliest is what remains
        taken = picks(each for each in picked if found.get(each.sha) is tag)
        found |= {
            each.sha: tag
            for each in commits
            if taken.has(each) and (each.sha not in found or tag.date < found[each.sha].date)
        }
    return {each.sha: Released.by(found.get(each.sha)) for each in commits}
