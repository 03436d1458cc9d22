"""The history in a repository's mirror: the commits since which a name is there or gone, and those whose titles tell of one."""

import re
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import NamedTuple

from analysis.models import Commit
from analysis.paths import Kind, kind
from analysis.questions.definitions import default_in, is_definition, spelled_in_code
from analysis.questions.kinds import QuestionKind
from analysis.questions.question import ParsedQuestion
from analysis.questions.terms import QuestionTerm
from analysis.questions.tree_records import required, requirements_in
from analysis.search.words import idf, is_common, searchable, split_words
from analysis.sources.mirror import Mirror
from analysis.watch import touches

_AS_FAR_AS = (25, 250, 2_000)  # commits of a file whose history is halved
_APART = 25  # commits between those at which a name is looked for that came and went
_HALVED = 3  # files whose history is halved
_TITLED = 3  # commits that are read for their titles
_FOLLOWING = 4  # commits that undo, fix or bring back another
_NAMES = 2  # whose history is asked for
_LATEST = 5  # commits that touch a name
_NEAR = 0.85  # share of the best title's score
_SAYS_ALL = 0.55  # share of a question's terms that a title must have
_GONE = re.compile(
    r"remov|delet|drop|deprecat|renam|replac|\bmov(?:e|ed|ing)\b|clean ?up|\binstead\b|->|→|migrat|get rid",
    re.IGNORECASE,
)
_ADDED = re.compile(r"add|introduc|support|br(?:ing|ought)", re.IGNORECASE)
_AGAIN = re.compile(
    r"re-?appl|re-?submi|re-?land|re-?introduc|re-?enabl|bring back|revert \"revert|redo\b", re.IGNORECASE
)
_TURNS = frozenset(
    {QuestionKind.DEFAULT, QuestionKind.ORIGIN, QuestionKind.DEFINITION}
)  # asked of the one that made it so
_OF_THE_GONE = frozenset({QuestionKind.REMOVAL, QuestionKind.REPLACEMENT})
_ASKING = re.compile(
    r"turn|switch|o(?:n|ff)|(?:en|dis)abled?|set|exists?|gives?|needs?|\d{1,3}|打开|关闭", re.IGNORECASE
)
_NAME = re.compile(r"[A-Za-z]+(?:_\w+|[a-z][A-Z]\w+)")
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_NUMBER = re.compile(r"\s*\(#\d+\)\s*$")
_WORD = re.compile(r"[a-z][a-z0-9]+|\d[\d.]*")


class FollowUps(NamedTuple):
    """The SHAs of the later commits that revert a commit, and of those that fix it."""

    reverts: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()


NOT_FOLLOWED: tuple[FollowUps, list[Commit]] = FollowUps(), []


class MirrorHistory:
    """The history in a mirror, whose titles are listed once."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror

    @cached_property
    def _titles(self) -> list[tuple[str, str]]:
        return self._mirror.titles()

    def names(self) -> frozenset[str]:
        """Return the names in code that titles have."""
        return frozenset(name for _, title in self._titles for name in _NAME.findall(title))

    def asked_for(self, asked: ParsedQuestion, paths: Sequence[str]) -> Sequence[Commit]:
        """Return the commits that answer since when or by what something came, went or changed, the proven ones first.

        `paths` are files that are known to have had the names.
        """
        gone = not asked.kinds.isdisjoint(_OF_THE_GONE)
        oldest, turns = QuestionKind.ORIGIN in asked.kinds, gone or not asked.kinds.isdisjoint(_TURNS)
        found: dict[str, Commit] = {}
        if not asked.symbols and (requiring := self._required(asked)):
            return [requiring]
        for name in asked.symbols[:_NAMES] or [""]:
            told = self._naming(name) if name else self._saying(asked)
            if name and QuestionKind.REVERTS in asked.kinds:
                return self._undone(told)
            proven = self._proven(name, asked, paths, told, turns=turns) if name else ()
            found.update((each.sha, each) for each in proven)
            fitting = [sha for sha, title in told.items() if _fits(asked, title)]
            for sha in (fitting[::-1] if oldest and not gone else fitting)[:_TITLED]:
                found.setdefault(sha, self._mirror.read_commit(sha))
        if oldest and not gone and QuestionKind.DEFAULT not in asked.kinds:
            return sorted(found.values(), key=lambda each: each.committed_at)
        return list(found.values())

    def _undone(self, told: Mapping[str, str]) -> list[Commit]:
        """Return the last revert among commits by their titles, newest first, and the next ones after it; none without one."""
        shas = list(told)
        last = next((at for at, sha in enumerate(shas) if told[sha].lower().startswith("revert")), None)
        chosen = [] if last is None else shas[max(0, last + 1 - _TITLED) : last + 1]
        return [self._mirror.read_commit(sha) for sha in reversed(chosen)]

    def _proven(
        self, name: str, asked: ParsedQuestion, paths: Sequence[str], told: Mapping[str, str], *, turns: bool
    ) -> list[Commit]:
        """Return the commit with which a name came or went or, if that is not asked, the latest that touch it where it is defined."""
        gone = not asked.kinds.isdisjoint(_OF_THE_GONE)
        if turns:
            mentioning = [self._mirror.read_commit(sha) for sha in list(told)[:_TITLED]] if gone else []
            touched = [place.path for each in mentioning for place in touches(each, [name])]
            had = sorted(dict.fromkeys((*paths, *touched)), key=lambda path: kind(path) is not Kind.SOURCE)
            default = QuestionKind.DEFAULT in asked.kinds
            turned = self._turning(name, had, told, gone=gone, default=default)
            return [turned] if turned else []
        key = spelled_in_code(name)
        showing = {
            each.sha: each
            for path in self._defining(key, paths)[:_NAMES]
            for each in self._mirror.history(path, symbol=key)
        }
        latest = sorted(showing.values(), key=lambda each: each.committed_at, reverse=True)[:_LATEST]
        return [self._mirror.read_commit(each.sha) for each in latest]

    def of_paths(self, paths: Sequence[str]) -> Sequence[Commit]:
        """Return the latest commits that changed some paths, newest first, unread: one may change thousands of others."""
        found = {each.sha: each for path in paths[:_NAMES] for each in self._mirror.history(path, limit=_LATEST)}
        return sorted(found.values(), key=lambda each: each.committed_at, reverse=True)

    def follow_ups(self, commit: Commit) -> tuple[FollowUps, list[Commit]]:
        """Return what later titles say became of a commit, and the commits that say so, the oldest first."""
        bare = _NUMBER.sub("", commit.title)
        later = self._titles[: next((at for at, (sha, _) in enumerate(self._titles) if sha == commit.sha), 0)][::-1]
        number = re.compile(rf"\bfix.*#{commit.pr}(?!\d)", re.IGNORECASE) if commit.pr else None
        words = set(_WORD.findall(bare.lower()))
        reverts, fixes, again = list[str](), list[str](), list[str]()
        for sha, title in later:
            if title.lower().startswith("revert") and bare in title:
                reverts.append(sha)
            elif number and number.search(title):
                fixes.append(sha)
            elif reverts and _AGAIN.search(title) and 2 * len(words & set(_WORD.findall(title.lower()))) >= len(words):
                again.append(sha)
        found = FollowUps(tuple(reverts), tuple(fixes))
        return found, [self._mirror.read_commit(each) for each in (*reverts, *fixes, *again)[:_FOLLOWING]]

    def _naming(self, name: str) -> dict[str, str]:
        """Return the titles that have a name, in whatever spelling, by the SHAs of their commits, newest first."""
        key = spelled_in_code(name)
        is_exact = "/" in name[1:] or ("." in name and is_common(key.lower()))
        parts = [name] if is_exact else split_words(searchable(key))
        parts = [each for each in parts if each != spelled_in_code(name).lower()] or parts
        said = re.compile(rf"(?<![a-z0-9]){'[-_ ]*'.join(map(re.escape, parts))}s?(?![a-z0-9])", re.IGNORECASE)
        return {sha: title for sha, title in self._titles if said.search(title)}

    def _required(self, asked: ParsedQuestion) -> Commit | None:
        """Return the commit since which files require what they do of a dependency, or no longer allow a version; None if it is not asked."""
        found = required(self._mirror, self._mirror.head(), asked)
        versions = [each.text for each in asked.terms if _VERSION.fullmatch(each.text)]
        gone = QuestionKind.REMOVAL in asked.kinds and versions

        def state(path: str, text: str) -> str | None:
            held = [each for each in requirements_in(path, text) if each.name == found[0].name]
            return next((str(each.allows(versions[0])) if gone else each.versions for each in held), None)

        chosen = [each for each in found if each.versions == found[0].versions][:_HALVED]
        turned = [self._turned(each.path, partial(state, each.path), (), gone=False) for each in chosen]
        (most, _), *_ = Counter(each.sha for each in turned if each).most_common(1) or [("", 0)]
        return self._mirror.read_commit(most) if most else None

    def _saying(self, asked: ParsedQuestion) -> dict[str, str]:
        """Return the titles that say most of what a question does, by the SHAs of their commits, newest first; none if none says enough."""
        asking = {*asked.facts.words, *(each.text.lower() for each in asked.terms if _ASKING.fullmatch(each.text))} - {
            "default"
        }
        asking |= {each.text.lower() for each in asked.terms if _GONE.match(each.text) or _ADDED.match(each.text)}
        patterns = [
            pattern for each in asked.terms if each.text.lower() not in asking and (pattern := _pattern_of(each))
        ]
        held = [[pattern.search(title) is not None for pattern in patterns] for _, title in self._titles]
        weights = [idf(sum(column), len(held)) for column in zip(*held, strict=True)] if patterns else []
        scores = [sum(weight for weight, is_in in zip(weights, row, strict=True) if is_in) for row in held]
        best = max(scores, default=0.0)
        if not best or best < _SAYS_ALL * sum(weights):
            return {}
        return {sha: title for (sha, title), score in zip(self._titles, scores, strict=True) if score >= _NEAR * best}

    def _turning(
        self, name: str, paths: Sequence[str], known: Collection[str], *, gone: bool, default: bool
    ) -> Commit | None:
        """Return the commit that brought a name, or its `default` of today, or with `gone` the one that took it away; None if none is found.

        `paths` are files that have had the name, `known` commits that had it. About ten versions of a file are fetched.
        """
        key = spelled_in_code(name)
        if not gone:
            paths = self._defining(key, paths)
        elif "_" in key:
            paths = [*self._beside(key), *paths]
        paths = list(dict.fromkeys(paths))
        if len(paths) > _HALVED and not gone:  # so many things have this name that the first of some says nothing
            return None
        state = partial(_default, key) if default else partial(_has, key)
        turned = [each for path in paths[:_HALVED] if (each := self._turned(path, state, known, gone=gone))]
        chosen = (max if gone else min)(turned, key=lambda each: each.committed_at, default=None)
        return self._mirror.read_commit(chosen.sha) if chosen else None

    def _defining(self, key: str, paths: Sequence[str]) -> list[str]:
        """Return the files that define a name at the head, those of `paths` first."""
        held = self._mirror.lines_having(self._mirror.head(), key.replace("_", "[_-]"))
        found = [each.path for each in held if is_definition(key, each.text)]
        defining = {path for path in found if kind(path) is Kind.SOURCE} or set(found)
        return list(dict.fromkeys((*(path for path in paths if path in defining), *sorted(defining))))

    def _beside(self, key: str) -> list[str]:
        """Return the file that defines the most names which begin as one does, where that may have stood, too."""
        prefix = f"{key.partition('_')[0]}_"
        named = re.compile(rf"\s*{prefix}\w*\s*[:=]")
        held = self._mirror.lines_having(self._mirror.head(), prefix)
        found = Counter(each.path for each in held if kind(each.path) is Kind.SOURCE and named.match(each.text))
        return [path for path, _ in found.most_common(1)]

    def _turned(
        self, path: str, state: Callable[[str], str | None], known: Collection[str], *, gone: bool
    ) -> Commit | None:
        """Return the commit of a file's history since which its text has the state that it has now; None if it has `gone` not come.

        What came and went is halved from the last commit that had another state, of those `known` to have had it and of some.
        """

        def state_at(sha: str) -> str | None:
            return state(self._mirror.trees_between(None, sha, strict=True).after.read(path) or "")

        now = state_at(self._mirror.head())

        @cache
        def is_other(sha: str) -> bool:
            return state_at(sha) != now

        if (now is None) is not gone:
            return None
        for limit in _AS_FAR_AS:  # what is sought is mostly recent, and a long history takes a second to list
            commits = self._mirror.history(path, limit=limit)
            shas = [each.sha for each in commits]
            probed = [at for at, sha in enumerate(shas) if sha in known or not (at + 1) % max(_APART, limit // 10)]
            last = next((at for at in [*probed, len(shas) - 1] if shas and is_other(shas[at])), None)
            if last is not None:
                return commits[bisect(shas[: last + 1], False, key=is_other) - 1]  # noqa: FBT003 (what is sought)
            if len(commits) < limit:
                return None if gone or not commits else commits[-1]
        return None


def _fits(asked: ParsedQuestion, title: str) -> bool:
    """Return whether a title says that happened what a question is about."""
    if QuestionKind.REVERTS in asked.kinds:
        return title.lower().startswith("revert")
    if QuestionKind.DEFAULT in asked.kinds:
        return "default" in title.lower()
    return asked.kinds.isdisjoint(_OF_THE_GONE) or _GONE.search(title) is not None


def _has(key: str, text: str) -> str | None:
    """Return a name if a file's text has it as a whole word."""
    return key if re.search(rf"(?<!\w){re.escape(key)}(?!\w)", text) else None


def _default(key: str, text: str) -> str | None:
    """Return the first default that a file's text gives a name."""
    return next((value for line in text.split("\n") if (value := default_in(key, line)) is not None), None)


def _pattern_of(term: QuestionTerm) -> re.Pattern[str] | None:
    """Return the expression for the words that a term is in English; None if it has none."""
    words = [
        re.escape(word)
        for word, weight in term.words.items()
        if word.isascii() and (weight == 1 or not term.text.isascii())
    ]
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(words)})", re.IGNORECASE) if words else None
