"""Checks of commits against the downstream repositories that a channel's subscriptions name, and answers from them.

"Does this break us?" is answered with both places, or with what was compared.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import TypeVar

import structlog

from analysis.citations import to_commit, to_upstream_place
from analysis.consequences.upgrade import severity
from analysis.errors import DigestError
from analysis.impact.surface.model import SurfaceIndex
from analysis.locale import Catalogue, Phrase, catalogue, translated
from analysis.locale.punctuation import join_items
from analysis.models import SHORT_SHA, Citation, Commit, Entry, Fact, FactKind, Failure, Language, Repository, Statement
from analysis.models.impacts import Certainty, CommitImpacts, Downstream, DownstreamImpacts, Impact
from analysis.questions.intent import asks_about_own_code, asks_what_breaks
from analysis.report.impacts import ImpactCause, comparison, impact_causes, more_places, omissions
from analysis.writing.by_rules import code
from bot.models.clock import Clock
from bot.models.downstream import UNASKED, DownstreamCheck, Unchecked
from bot.services.impact import ImpactService, ImpactsFound
from bot.services.reader import Reader
from bot.services.surfaces import ComparedSurface
from bot.store import Subscriptions

_CAUSES = 4  # of one commit
_COMMITS = 5  # of a day
_METHOD = re.compile(r"(?P<owner>\w+)\.(?P<name>[a-z]\w*)\((?P<parameter>\w+)\)")  # of a fact
_ROLE = re.compile(r"[A-Z]?[a-z0-9]+|\w+")  # the last word of a class's name
_WORD = re.compile(r"[a-z0-9]+")
_GROWN = (FactKind.REQUIRED_PARAMETER, FactKind.ADDED_PARAMETER)

log = structlog.get_logger(__name__)


Tree = TypeVar("Tree", bound=Repository | Path)


def asked_for(question: str, own: Sequence[Tree], others: Sequence[Tree] = ()) -> list[Tree]:
    """Return the downstream trees of which a question asks what breaks them: those that it names, or one's own."""
    named = {str(each): each for each in (*others, *own) if _is_named(question, each)}
    return list(named.values()) or (list(own) if asks_about_own_code(question) else [])


def used_names(index: SurfaceIndex, removed: Iterable[Fact]) -> tuple[str, ...]:
    """Return the names that facts say are removed, parameters apart, of those that a surface uses from the same module."""
    names = {each: each.name.removesuffix(".py").replace("/", ".") for each in removed if "(" not in each.name}
    return tuple(
        dict.fromkeys(name for fact, name in names.items() if index.uses_of(name.rpartition(".")[2], fact.path or ""))
    )


def _is_named(question: str, tree: Repository | Path) -> bool:
    """Return whether a question asks what breaks a tree that it names."""
    names = (tree.resolve().name,) if isinstance(tree, Path) else (tree.name, tree.owner)
    return asks_what_breaks(question, *names)


def surfaces_of(
    impacts: ImpactService,
    upstream: Repository,
    entries: Sequence[Entry],
    trees: Sequence[Repository | Path],
    now: datetime,
    allow: Callable[[Repository], object] = bool,
) -> tuple[list[ComparedSurface], list[Unchecked]]:
    """Return the surfaces of downstream trees as before these entries, or as they are without any, and those that failed, with the reason.

    `allow` raises for a repository that may not be seen.
    """
    surfaces: list[ComparedSurface] = []
    unchecked: list[Unchecked] = []
    for each in trees:
        try:
            if not isinstance(each, Path):
                allow(each)
            surfaces.append(impacts.surface(each, upstream, entries, now))
        except Exception as exc:  # noqa: BLE001 (whatever fails, the digest must arrive and say so)
            unchecked.append(_unchecked(each, exc))
    return surfaces, unchecked


def check_trees(
    impacts: ImpactService,
    upstream: Repository,
    entries: Sequence[Entry],
    trees: Sequence[Repository | Path],
    now: datetime,
    allow: Callable[[Repository], object] = bool,
    *,
    then: bool = False,
) -> DownstreamCheck:
    """Return what stored commits break of downstream trees. Errors are part of it.

    If that is nothing and the commits are old, `then` looks at the trees as they stood when these landed: what breaks is told of both.
    """
    found = ImpactsFound()
    surfaces: list[ComparedSurface] = []
    try:
        surfaces, unchecked = surfaces_of(impacts, upstream, entries, trees, now, allow)
        if surfaces:
            found = impacts.impacts(upstream, entries, surfaces, now)
    except Exception as exc:  # noqa: BLE001 (likewise)
        surfaces, unchecked = [], [_unchecked(each, exc) for each in trees]
    check = DownstreamCheck(
        surfaces=tuple(each.uses for each in surfaces),
        compared=tuple(each.downstream for each in surfaces),
        unchecked=tuple(unchecked),
        commits={each.entry.commit.sha: each.found for each in sorted(found.commits, key=_severity)},
        failed=found.failed,
        touching=found.touching,
    )
    if not then or check.commits or check.unchecked or not entries:
        return check
    earlier = check_trees(impacts, upstream, entries, impacts.as_of(trees, entries, now), now, allow)
    if not earlier.commits:
        return check
    return earlier._replace(compared=check.compared + earlier.compared, surfaces=check.surfaces + earlier.surfaces)


@dataclass(eq=False)
class DownstreamChecks:
    """Checks commits for channels. A repository that a channel may not see is as one that does not exist.

    Questions may name the `configured` downstream repositories, too.
    """

    _impacts: ImpactService
    _subscriptions: Subscriptions
    _now: Clock
    _configured: Sequence[Repository] = ()

    def named(self, channel: str, upstream: Repository, subscription: int | None = None) -> list[Repository]:
        """Return the downstream repositories that a channel names for an upstream one, in one subscription or in any."""
        held = [each for each in self._subscriptions.of(channel) if each.terms.repository.key == upstream.key]
        chosen = [each for each in held if subscription is None or each.id == subscription]
        return list({each.key: each for one in chosen for each in one.terms.downstream}.values())

    def asked(self, reader: Reader, channel: str, upstream: Repository, question: str) -> list[Repository]:
        """Return the downstream repositories of which a question in a channel asks what breaks them."""
        own = self.named(channel, upstream)
        found = asked_for(question, own, self._configured)
        return [each for each in found if each in own or reader.within(channel).sees(each)]

    def surfaces(
        self,
        reader: Reader,
        channel: str,
        upstream: Repository,
        named: Sequence[Repository] = (),
        entries: Sequence[Entry] = (),
    ) -> tuple[list[ComparedSurface], list[Unchecked]]:
        """Return the surfaces of some repositories, or of those that a channel names, and those that failed, with the reason.

        They are as before these entries, or as they are now if there are none.
        """
        trees = named or self.named(channel, upstream)
        return surfaces_of(self._impacts, upstream, entries, trees, self._now(), reader.within(channel).allow)

    def check(
        self,
        reader: Reader,
        channel: str,
        upstream: Repository,
        entries: Sequence[Entry],
        subscription: int | None = None,
        named: Sequence[Repository] = (),
    ) -> DownstreamCheck:
        """Return what stored commits break of some repositories, or of those that a channel names, as `check_trees` does; `named` ones also then."""
        trees = named or self.named(channel, upstream, subscription)
        if not trees:
            return UNASKED
        allow = reader.within(channel).allow
        return check_trees(self._impacts, upstream, entries, trees, self._now(), allow, then=bool(named))


def _unchecked(repository: Repository | Path, error: Exception) -> Unchecked:
    """Return why a repository was not checked; a bug of ours is logged with its traceback."""
    if isinstance(error, DigestError):
        log.warning("not compared", repository=str(repository), why=str(error))
        return Unchecked(repository, error.what)
    log.error("this is a bug in vllm-digest", exc_info=error)
    return Unchecked(repository, Phrase("something went wrong; see the operator's log"))


def _severity(commit: CommitImpacts) -> tuple[object, ...]:
    """Return the sort key of a commit, worst first."""
    return *severity(commit.found), -commit.entry.ranked.score


def naming_hint(repository: Repository, language: Language) -> Statement:
    """Return how a channel names its downstream repository."""
    text = catalogue(language)(
        "I can also check your own code: add its repository with `subscribe {repository} downstream owner/name`.",
        repository=repository,
    )
    return Statement(text=text, new_paragraph=True)


def answer_from_impacts(
    check: DownstreamCheck,
    entries: Sequence[Entry],
    language: Language,
    question: str = "",
    beside: Sequence[Statement] = (),
) -> Iterator[Statement]:
    """Yield what these commits break, or what was compared, then what is told `beside` it and what they may break.

    First is told what the words of a `question` name, then the worst. Nothing is denied of an unread commit.
    """
    say, commits = catalogue(language), {each.commit.sha: each.commit for each in entries}
    failed = {each.sha: each for each in check.failed}
    unread = [each for each in commits.values() if not each.read or each.sha in failed]
    asked = set(_WORD.findall(question.lower()))
    yield from islice(_grown(check, entries, asked, say), _CAUSES)
    names = [each.name for each in check.compared]
    for downstream in check.compared:
        breaking = [
            (commits[sha], each)
            for sha, found in check.commits.items()
            for each in found
            if each.downstream == downstream
        ]
        if breaking:
            then = downstream.name.partition("@")[0] in names[: names.index(downstream.name)]
            yield from _breaking(sorted(breaking, key=partial(_named_less, asked)), len(commits), say, then=then)
        elif len(unread) < len(commits):
            yield Statement(text=_denial(downstream, len(commits) - len(unread), say), new_paragraph=True)
    yield from (*beside, *_touching(check, entries, say))
    for omission in dict.fromkeys(each for downstream in check.compared for each in omissions(downstream, language)):
        yield Statement(text=f"⚠️ {omission}", new_paragraph=True)
    if unread:
        text = _uncompared(unread, failed.get(unread[0].sha), say)
        yield Statement(text=text, citations=tuple(map(to_commit, unread[:_COMMITS])), new_paragraph=True)
    for missing in check.unchecked:
        reason = translated(missing.reason, language)
        text = say("{name} could not be checked: {reason}", name=missing.repository, reason=reason)
        yield Statement(text=text, new_paragraph=True)


def _breaking(
    found: Sequence[tuple[Commit, DownstreamImpacts]], compared: int, say: Catalogue, *, then: bool
) -> Iterator[Statement]:
    """Yield what commits break of one downstream repository, or broke `then`, when they landed."""
    name, several = found[0][1].downstream.name, compared > 1
    every = [each for _, breaks in found for each in breaks.impacts]
    places = say.plural("{count} place", "{count} places", len({_line(each) for each in every}))
    proven = any(each.certainty is Certainty.PROVEN for each in every)
    values = {"name": name, "places": places, "count": f"{len(found):,}", "all": f"{compared:,}"}
    if then:
        text = say("At that time, {name} broke in {places}:", **values)
    elif several:
        text = say("{count} of {all} commits break {name}, in {places}:", **values)
    else:
        text = (
            say("Yes, this breaks {name} in {places}:", **values)
            if proven
            else say("It may break {name} in {places}:", **values)
        )
    yield Statement(text=text, new_paragraph=True)
    for commit, breaks in found[:_COMMITS]:
        causes = impact_causes(breaks)
        for cause in causes[: 1 if several else _CAUSES]:
            yield from _cause(commit, breaks.downstream, cause, say, with_commit=several)
        shown = [place for each in causes[:_CAUSES] for place in each.shown]
        left = 0 if several else more_places(breaks.impacts, shown)
        if left:
            yield Statement(text=say.plural("and {count} more place", "and {count} more places", left), kind="item")
    if len(found) > _COMMITS:
        text = say.plural("and {count} more commit", "and {count} more commits", len(found) - _COMMITS)
        yield Statement(text=text, kind="item")


def _cause(
    commit: Commit, downstream: Downstream, cause: ImpactCause, say: Catalogue, *, with_commit: bool
) -> Iterator[Statement]:
    upstream = to_upstream_place(commit, cause.first)
    places = [_place(downstream, each) for each in cause.shown]
    citations = (*((to_commit(commit),) if with_commit else ()), *places, upstream)
    yield Statement(text=cause.sentence(say.language), citations=citations, kind="item")
    if not with_commit:
        lines = [cause.first.downstream.code]
        if cause.first.advice:
            lines += [f"# {say('instead')}", cause.first.advice]
        yield Statement(text="\n".join(lines), kind="code")


def _place(downstream: Downstream, impact: Impact) -> Citation:
    place = impact.downstream
    return Citation(label=f"{place.path}:{place.line}", url=downstream.url(place) or "")


def _named_less(asked: set[str], breaking: tuple[Commit, DownstreamImpacts]) -> int:
    return -max(len(asked.intersection(_WORD.findall(each.downstream.path.lower()))) for each in breaking[1].impacts)


def _line(impact: Impact) -> tuple[str, int]:
    return impact.downstream.path, impact.downstream.line


def _grown(check: DownstreamCheck, entries: Sequence[Entry], asked: set[str], say: Catalogue) -> Iterator[Statement]:
    """Yield the methods that take a new parameter, of those asked about, and own classes of the same role that define them too."""
    methods = [(each, fact, _METHOD.fullmatch(fact.name)) for each in entries for fact in each.facts]
    for downstream, index in zip(check.compared, check.surfaces, strict=False):
        for own, (entry, fact, match) in product(index.surface.subclasses.values(), methods):
            if not match or fact.kind not in _GROWN or match["name"] not in own.members:
                continue
            role, name = _ROLE.findall(match["owner"])[-1], own.target[-1]
            if name.endswith(role) and {match["name"], role.lower()} & asked:
                text = say(
                    "{upstream} now takes {parameter}; check {own}, which has this method, too (not proven).",
                    upstream=code(f"{match['owner']}.{match['name']}"),
                    parameter=code(match["parameter"]),
                    own=code(name),
                )
                url = f"{downstream.files_url or ''}/{own.path}#L{own.line}"
                places = to_commit(entry.commit), Citation(label=f"{own.path}:{own.line}", url=url)
                yield Statement(text=text, citations=places, kind="item")


def _touching(check: DownstreamCheck, entries: Sequence[Entry], say: Catalogue) -> Iterator[Statement]:
    """Yield the commits that break nothing as far as is proven, but change files from which the code imports."""
    touching = [each for each in entries if each.commit.sha in check.touching and len(entries) > 1]
    if best := sorted(touching, key=lambda each: -each.ranked.score)[:_CAUSES]:
        titles = join_items([code(each.commit.title) for each in best], say)
        text = say(
            "{count} commits change files that you import from, first {titles}.", count=len(touching), titles=titles
        )
        yield Statement(text=text, citations=tuple(to_commit(each.commit) for each in best))


def _denial(downstream: Downstream, compared: int, say: Catalogue) -> str:
    """Return that nothing is proven to break a repository, with what was compared."""
    if not downstream.uses:
        return say("No. {what}.", what=comparison(downstream, say.language))
    sha = "" if not downstream.sha or "@" in downstream.name else f" ({downstream.sha[:SHORT_SHA]})"
    return say(
        "Nothing is proven to break: {files}, {uses} of {packages} in {name} compared with {commits}.",
        files=say.plural("{count} file", "{count} files", downstream.python_files),
        uses=say.plural("{count} use", "{count} uses", downstream.uses),
        packages=join_items(downstream.packages, say),
        name=downstream.name + sha,
        commits=say.plural("{count} commit", "{count} commits", compared),
    )


def _uncompared(unread: Sequence[Commit], failure: Failure | None, say: Catalogue) -> str:
    if len(unread) == 1 and failure:
        return say(
            "This commit could not be compared with your code: {reason}", reason=failure.translated(say.language)
        )
    commits = say.plural("{count} commit", "{count} commits", len(unread))
    return say("{commits} could not be read or compared with your code.", commits=commits)
