"""Answers to "does this break us?", from the impacts: with both places, or with what was compared."""

from collections.abc import Iterator, Sequence

from analysis.citations import to_commit, to_upstream_place
from analysis.locale import Catalogue, catalogue, translated
from analysis.locale.punctuation import join_items
from analysis.models import Citation, Commit, Entry, Failure, Language, Repository, Statement
from analysis.models.impacts import Certainty, Downstream, DownstreamImpacts, Impact
from analysis.report.impacts import ImpactCause, comparison, impact_causes, more_places, omissions
from bot.models.downstream import DownstreamCheck

_CAUSES = 4  # of one commit
_COMMITS = 5  # of a day


def naming_hint(repository: Repository, language: Language) -> Statement:
    """Return how a channel names its downstream repository."""
    text = catalogue(language)(
        "I can also check your own code: add its repository with `subscribe {repository} downstream owner/name`.",
        repository=repository,
    )
    return Statement(text=text, new_paragraph=True)


def answer_from_impacts(check: DownstreamCheck, entries: Sequence[Entry], language: Language) -> Iterator[Statement]:
    """Yield what these commits break, worst first; a denial says what was compared. Nothing is denied of an unread commit."""
    say, commits = catalogue(language), {each.commit.sha: each.commit for each in entries}
    failed = {each.sha: each for each in check.failed}
    unread = [each for each in commits.values() if not each.read or each.sha in failed]
    for downstream in check.compared:
        breaking = [
            (commits[sha], each)
            for sha, found in check.commits.items()
            for each in found
            if each.downstream == downstream
        ]
        if breaking:
            yield from _breaking(breaking, len(commits), say)
        elif len(unread) < len(commits):
            yield Statement(text=_denial(downstream, len(commits) - len(unread), say), new_paragraph=True)
        for omission in omissions(downstream, language):
            yield Statement(text=f"⚠️ {omission}", new_paragraph=True)
    if unread:
        text = _uncompared(unread, failed.get(unread[0].sha), say)
        yield Statement(text=text, citations=tuple(map(to_commit, unread[:_COMMITS])), new_paragraph=True)
    for missing in check.unchecked:
        reason = translated(missing.reason, language)
        text = say("{name} could not be checked: {reason}", name=missing.repository, reason=reason)
        yield Statement(text=text, new_paragraph=True)


def _breaking(found: Sequence[tuple[Commit, DownstreamImpacts]], compared: int, say: Catalogue) -> Iterator[Statement]:
    """Yield what commits break of one downstream repository."""
    name, several = found[0][1].downstream.name, compared > 1
    every = [each for _, breaks in found for each in breaks.impacts]
    places = say.plural("{count} place", "{count} places", len({_line(each) for each in every}))
    proven = any(each.certainty is Certainty.PROVEN for each in every)
    values = {"name": name, "places": places, "count": f"{len(found):,}", "all": f"{compared:,}"}
    if several:
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


def _line(impact: Impact) -> tuple[str, int]:
    return impact.downstream.path, impact.downstream.line


def _denial(downstream: Downstream, compared: int, say: Catalogue) -> str:
    """Return that nothing breaks a repository, with what was compared."""
    if not downstream.uses:
        return say("No. {what}.", what=comparison(downstream, say.language))
    uses = {
        "uses": say.plural("{count} use", "{count} uses", downstream.uses),
        "packages": join_items(downstream.packages, say),
        "name": downstream.name,
    }
    if compared == 1:
        return say("No: none of the {uses} of {packages} in {name} is affected.", **uses)
    commits = say.plural("{count} commit", "{count} commits", compared)
    return say("No: none of the {uses} of {packages} in {name} is affected by {commits}.", commits=commits, **uses)


def _uncompared(unread: Sequence[Commit], failure: Failure | None, say: Catalogue) -> str:
    if len(unread) == 1 and failure:
        return say(
            "This commit could not be compared with your code: {reason}", reason=failure.translated(say.language)
        )
    commits = say.plural("{count} commit", "{count} commits", len(unread))
    return say("{commits} could not be read or compared with your code.", commits=commits)
