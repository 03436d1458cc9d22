"""Impacts on a channel's downstream repositories: the digest's first section, and both places in a commit's message."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from analysis.citations import to_upstream_place
from analysis.locale import Catalogue, catalogue, translated
from analysis.models import SHORT_SHA, Commit, Entry, Failure, Language, PeriodReport
from analysis.models.impacts import Downstream, DownstreamImpacts, Impact
from analysis.ranking import importance_downstream
from analysis.report.impacts import ImpactCause, comparison, impact_causes, more_places, omissions, touching_modules
from analysis.text import one_line, shorten
from analysis.writing.titles import number_of
from bot.models.downstream import DownstreamCheck, Unchecked
from bot.slack.messages.blocks import Block, Piece, code, context, linked, listed, ours, prose

# Ends the address of a commit in a digest's head until it is linked to the commit's message in the thread.
THREAD_MARK = "#in-thread"
BREAKS_SIGN = "💥"  # begins the heading of the digest's first section
SHOWN_COMMITS = 8  # in the digest's first section
_CAUSES = 4  # of a downstream repository in a commit's message
_LINE = 160  # characters of a line of code
_PLACE = 120  # characters of a path with its line
_SENTENCE = 300
_Report = TypeVar("_Report", bound=PeriodReport)


def raised(report: _Report, check: DownstreamCheck) -> _Report:
    """Return a report whose commits that break the channel's code are of high importance, worst first.

    Those that may break others are at least of medium importance there.
    """
    if not check.compared:
        return report
    order = {sha: place for place, sha in enumerate(check.commits)}

    def worst_first(entries: Sequence[Entry]) -> tuple[Entry, ...]:
        shown = [raised_entry(each, check) for each in entries]
        return tuple(sorted(shown, key=lambda each: order.get(each.commit.sha, len(order))))

    return report.model_copy(update={"entries": worst_first(report.entries), "late": worst_first(report.late)})


def raised_entry(entry: Entry, check: DownstreamCheck) -> Entry:
    """Return a commit with its importance for a channel whose code was compared, otherwise as it is."""
    if not check.compared:
        return entry
    importance = importance_downstream(entry.ranked, broken=bool(check.of(entry.commit.sha)))
    return entry.model_copy(update={"ranked": entry.ranked.model_copy(update={"importance": importance})})


# The digest


def breaking_section(entries: Iterable[Entry], check: DownstreamCheck, language: Language) -> list[Block]:
    """Return the digest's first section: a line a commit, worst first, or that nothing breaks the code that was compared."""
    say = catalogue(language)
    commits = {each.commit.sha: each.commit for each in entries}
    unread = {sha for sha, commit in commits.items() if not commit.read} | {each.sha for each in check.failed}
    rows = [_line_of(commits[sha], found, check, say) for sha, found in check.commits.items() if sha in commits]
    told: list[Block] = []
    if rows:
        more = len(rows) - SHOWN_COMMITS
        if more > 0:
            left = say.plural("{count} more commit in the thread", "{count} more commits in the thread", more)
            rows[SHOWN_COMMITS:] = [ours(left)]
        told = [listed(_heading(", ".join(each.name for each in check.compared), say), rows)]
    elif check.compared:
        told = [context(_unbroken(check.compared, len(unread), len(commits.keys() & set(check.touching)), say))]
    if count := len(check.dismissed):
        told.append(
            context(say.plural("🚫 {count} name of no concern here", "🚫 {count} names of no concern here", count))
        )
    return told + [context(unchecked_text(each, language)) for each in check.unchecked]


def _heading(names: str, say: Catalogue) -> list[Piece]:
    return ours(say("💥 Breaks your code"), "bold") + ours(f" ({names})")


def worst_line(entries: Iterable[Entry], check: DownstreamCheck, language: Language) -> str:
    """Return the first line of that section as plain text, for the notification; empty if nothing breaks."""
    say, shas = catalogue(language), {each.commit.sha for each in entries}
    for sha, found in check.commits.items():
        if sha in shas:
            first = impact_causes(found[0])[0]
            line = f"{say('💥 Breaks your code')}{say(': ')}{_place(first.first)} · {_sentence(first, language)}"
            return line.replace("`", "")
    return ""


def _line_of(commit: Commit, found: Sequence[DownstreamImpacts], check: DownstreamCheck, say: Catalogue) -> list[Piece]:
    """Return a commit's worst impact in a line, with the number of further places."""
    of, first = found[0].downstream, impact_causes(found[0])[0]
    pieces = prose(f"{of.name} ") if len(check.compared) > 1 else []
    pieces += _linked_place(of, first.first) + ours(" · ") + prose(_sentence(first, say.language))
    more = sum(more_places(each.impacts, ()) for each in found) - 1
    pieces += ours(" · " + say.plural("and {count} more place", "and {count} more places", more)) if more else []
    return [*pieces, *ours(" · "), *linked(number_of(commit), f"{commit.url}{THREAD_MARK}")]


def _unbroken(compared: Sequence[Downstream], unread: int, touching: int, say: Catalogue) -> str:
    checked = say("; ").join(
        f"{each.name}, {say.plural('{count} file', '{count} files', each.files)}" for each in compared
    )
    told = say("✅ No proven break of your code (compared with {what})", what=checked)
    told = " · ".join([told, *touching_modules(touching, say)])
    if not unread:
        return told
    commits = say.plural("{count} commit", "{count} commits", unread)
    return f"{told} · {say('⚠️ {commits} could not be read or compared', commits=commits)}"


def unchecked_text(each: Unchecked, language: Language) -> str:
    """Return that a downstream repository could not be compared, and why."""
    reason = translated(each.reason, language)
    return catalogue(language)("⚠️ {name} could not be checked: {reason}", name=each.repository, reason=reason)


def coverage_rows(check: DownstreamCheck, language: Language) -> list[list[Piece]]:
    """Return what was compared and what could not be, for the coverage."""
    say = catalogue(language)
    rows = [prose(text) for each in check.compared for text in (comparison(each, language), *omissions(each, language))]
    rows += [prose(unchecked_text(each, language)) for each in check.unchecked]
    return rows + [prose(_failed(each, say)) for each in check.failed]


def _failed(failure: Failure, say: Catalogue) -> str:
    sha, reason = failure.sha[:SHORT_SHA], failure.translated(say.language)
    return say("{sha} could not be compared with your code: {reason}", sha=sha, reason=reason)


# The commit's message


def impact_blocks(commit: Commit, check: DownstreamCheck, language: Language) -> list[Block]:
    """Return what a commit breaks, with both places of each cause; that it breaks nothing; and what could not be checked."""
    say, blocks = catalogue(language), []
    for found in check.of(commit.sha):
        shown = impact_causes(found)[:_CAUSES]
        rows = [_cause(commit, found.downstream, each, say) for each in shown]
        more = more_places(found.impacts, (place for each in shown for place in each.shown))
        if more:
            rows.append(ours(say.plural("and {count} more place", "and {count} more places", more), "italic"))
        blocks.append(listed(_heading(found.downstream.name, say), rows))
    if check.compared and not blocks and not check.failed and commit.read:
        blocks.append(context(_unbroken(check.compared, 0, int(commit.sha in check.touching), say)))
    blocks += [context(_failed(each, say)) for each in check.failed if each.sha == commit.sha]
    return blocks + [context(unchecked_text(each, language)) for each in check.unchecked]


def _cause(commit: Commit, downstream: Downstream, cause: ImpactCause, say: Catalogue) -> list[Piece]:
    """Return the sentence of a cause, its places downstream and upstream with their code, and what to write instead."""
    pieces = prose(_sentence(cause, say.language))
    for each in cause.shown:
        pieces += _row(say("your code"), _linked_place(downstream, each), each.downstream.code)
        if each.advice:
            pieces += ours(f"\n{say('instead')}")
            for number, line in enumerate(each.advice.splitlines()):
                pieces += ours("\n" if number else " ") + _code(line)
    upstream, place = cause.first.upstream, to_upstream_place(commit, cause.first)
    pieces += _row(
        say("upstream"), linked(f"`{shorten(place.label, _PLACE)}`", place.url), upstream.before or upstream.after
    )
    if upstream.before and upstream.after:
        pieces += ours(" → ") + _code(upstream.after)
    return pieces


def _row(label: str, place: list[Piece], text: str | None) -> list[Piece]:
    return ours(f"\n{label} ") + place + (ours(" ") + _code(text) if text else [])


def _code(line: str) -> list[Piece]:
    return code(shorten(one_line(line), _LINE))


def _sentence(cause: ImpactCause, language: Language) -> str:
    return shorten(one_line(cause.sentence(language)), _SENTENCE)


def _linked_place(downstream: Downstream, impact: Impact) -> list[Piece]:
    return linked(f"`{_place(impact)}`", downstream.url(impact.downstream) or "")


def _place(impact: Impact) -> str:
    return shorten(f"{impact.downstream.path}:{impact.downstream.line}", _PLACE).replace("`", "'")
