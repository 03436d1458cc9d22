"""The report for a terminal, with colours, links and wrapped lines; elsewhere plain text without wrapping."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from rich.console import Console
from rich.rule import Rule
from rich.style import Style
from rich.text import Text

from analysis.locale import Catalogue, catalogue
from analysis.models import Analysis, Commit, DayReport, Entry, Importance, Language, Repository, Statement
from analysis.report import counts
from analysis.report.breaking import Part, breaks_of, changes_of
from analysis.report.highlights import HighlightGroup, Theme, shown_highlights
from analysis.report.wrapping import Line, print_line
from analysis.text import one_line, visible
from analysis.writing.headlines import headline
from analysis.writing.labels import BADGE, CHANGE_TYPES, INSIGHT, REMARKS, SEVERITY, breakage_label
from analysis.writing.purpose import purpose
from analysis.writing.reasons import consequences

_COLOUR = {Importance.HIGH: "red", Importance.MEDIUM: "yellow", Importance.LOW: "green"}
_MAX_NAMES = 10  # maximum names of a kind that a commit breaks, with their places
_AUTHOR_WIDTH = 18  # columns; longer names are cut
_MIN_WIDTH_FOR_AUTHORS = 100  # columns from which a list shows the author
_RULE_WIDTH = 80  # maximum columns
_INDENT = Text("   ")
BULLET = Text("• ")
_INDENTED_BULLET = Text("     • ")


def print_report(console: Console, report: DayReport) -> None:
    """Print one day of one repository."""
    say = catalogue(report.language)
    zone = ZoneInfo(report.timezone)
    print_heading(console, f"{report.repository} · {report.date} · {report.timezone}")
    _print(console, Text(counts.statistics(report), style="bold"))
    if not report.entries:
        _print(console, Text(counts.nothing(report)))
    print_highlights(console, shown_highlights(report), report.language)
    failed = {failure.sha: failure.translated(report.language) for failure in report.failed}
    for tier in Importance:
        _print_tier(console, report, tier, failed, zone, say)
    if report.late:
        console.print()
        _print(console, Text(counts.late_heading(report), style="bold magenta"))
        _print(console, Text(counts.late_note(report), style="dim"))
        _print_lines(console, _commit_list(console, report.late, zone, say, dated=True))
    _print_coverage(console, report, say)


def print_commit(
    console: Console,
    repository: Repository,
    entry: Entry,
    language: Language,
    zone: ZoneInfo,
    reason: str | None = None,
) -> None:
    """Print one commit in full."""
    print_heading(console, str(repository))
    _print_lines(console, _full_commit(entry, catalogue(language), language, zone, reason, dated=True))


def print_answer(console: Console, statements: Iterable[Statement]) -> None:
    """Print an answer, each statement as soon as it arrives, followed by its citations."""
    for number, statement in enumerate(statements):
        if number and statement.new_paragraph:
            console.print()
        text = Text(visible(statement.text, keep="\n"))
        for each in statement.citations:
            text.append(f"  {one_line(each.label)}", style=Style(dim=True, link=each.url))
            text.append(f" ({each.place})" if each.place else "", style="dim")
        lead = BULLET if statement.kind == "item" else Text("  " if statement.kind == "code" else "")
        print_line(console, Line(text, lead))


def print_found(console: Console, found: Sequence[tuple[str, Commit]], zone: ZoneInfo) -> None:
    """Print the commits that a search found, best first."""
    many = len({repository for repository, _ in found}) > 1
    for repository, commit in found:
        lead = Text.assemble(sha_link(commit), (f"  {commit.committed_at.astimezone(zone):%Y-%m-%d}  ", "dim"))
        where = (f"{repository} ", "dim") if many else ""
        print_line(console, Line(Text.assemble(where, one_line(commit.title)), lead))


def print_heading(console: Console, title: str) -> None:
    """Print the rule that begins a report."""
    console.print(Rule(Text(title, style="bold")), width=min(console.width, _RULE_WIDTH))


def _print(console: Console, text: Text) -> None:
    print_line(console, Line(text))


def _print_lines(console: Console, lines: Iterable[Line]) -> None:
    for line in lines:
        print_line(console, line)


def print_highlights(console: Console, groups: Iterable[HighlightGroup], language: Language) -> None:
    """Print what follows from a period's commits, group by group, a line a commit."""
    say = catalogue(language)
    for group in groups:
        console.print()
        style = "bold red" if group.theme is Theme.BREAKING else "bold"
        _print(console, Text(group.heading(say), style=style))
        rows = [
            Text("  ").join([prose(headline(each.entry, each.facts, language)), sha_link(each.entry.commit)])
            for each in group.rows
        ]
        if group.left:
            rows.append(Text(group.more(say), style="dim"))
        _print_lines(console, (Line(row, BULLET) for row in rows))


def _print_tier(
    console: Console, report: DayReport, tier: Importance, failed: dict[str, str], zone: ZoneInfo, say: Catalogue
) -> None:
    entries = report.tier(tier)
    if not entries:
        return
    console.print()
    _print(console, Text(counts.tier_heading(report, tier), style=f"bold {_COLOUR[tier]}"))
    if tier is not Importance.HIGH:
        reasons = report.language if tier is Importance.MEDIUM else None
        _print_lines(console, _commit_list(console, entries, zone, say, reasons=reasons))
        return
    for entry in entries:
        console.print()
        _print_lines(console, _full_commit(entry, say, report.language, zone, failed.get(entry.commit.sha)))


def _full_commit(
    entry: Entry, say: Catalogue, language: Language, zone: ZoneInfo, reason: str | None, *, dated: bool = False
) -> Iterator[Line]:
    commit, ranked, analysis = entry.commit, entry.ranked, entry.analysis
    yield Line(
        Text(one_line(commit.title) or commit.short_sha, style=link_style("bold", commit.url)),
        Text(f"{BADGE[ranked.importance]} "),
    )
    types = " / ".join(say(CHANGE_TYPES[each]) for each in ranked.change_types)
    about = " · ".join(filter(None, [types, breakage_label(ranked, say)]))
    when = _when(commit.committed_at, zone, dated=dated)
    size = Text.assemble(*_diff_size(commit))
    yield _indented(Text("  ").join([sha_link(commit), Text(f"{when}  {one_line(commit.author)}"), size, Text(about)]))
    if commit.not_on:
        yield _indented(Text(say("⚠️ not on {branch}", branch=one_line(commit.not_on)), style="bold red"))
    if entry.watched:
        touched = " · ".join(one_line(f"{each.term} {each.place}") for each in entry.watched)
        yield _indented(Text(say("👁 Touches watched terms") + say(": ") + touched, style="bold"))
    yield from _change_lines(entry, language)
    for row in _link_rows(entry, say):
        yield _indented(Text(row))
    if analysis is None:
        unread = say("could not be read: {reason}", reason=one_line(reason or say("unknown")))
        yield _indented(Text(f"⚠️ {unread}", style="red"))
    else:
        yield from _analysis_lines(entry, analysis, say)


def _change_lines(entry: Entry, language: Language) -> Iterator[Line]:
    """Yield what a commit's facts prove, with their places and, where no model said so, what follows."""
    by_rules = entry.analysis is not None and entry.analysis.by == "rules"
    for each in changes_of(entry) if by_rules else breaks_of(entry):
        row = _breaking_text(each.parts(language, _MAX_NAMES))
        if by_rules and (follows := each.consequence(language)):
            row.append(" – ").append_text(prose(follows))
        yield Line(row, _INDENTED_BULLET)


def _analysis_lines(entry: Entry, analysis: Analysis, say: Catalogue) -> Iterator[Line]:
    """Yield a model's analysis; without a model the author's words and the places, since the facts are above."""
    if analysis.by == "rules":
        if why := purpose(entry.commit):
            yield _indented(prose(say("The author writes: {text}", text=why)))
        yield from _labelled_list(say("🎯 Scope"), [prose(row) for row in analysis.scope])
        yield _indented(Text(say("🔧 Rule-based (no model)"), style="dim"))
        return
    yield _indented(prose(analysis.summary))
    yield from _labelled_list(say("🎯 Scope"), [prose(row) for row in analysis.scope])
    insight = {name: text for name, text in analysis.insight.model_dump().items() if text}
    yield from _labelled_list(
        say("🔍 Insight"),
        [Text(say.context("insight", INSIGHT[name]) + say(": ")) + prose(text) for name, text in insight.items()],
    )
    yield from _labelled_list(
        say("⚠️ Risks"),
        [
            Text(f"[{say(SEVERITY[each.severity])}] ")
            + prose(each.risk + (f" → {each.mitigation}" if each.mitigation else ""))
            for each in analysis.risks
        ],
    )
    yield from _labelled_list(say("💡 Advice"), [prose(row) for row in analysis.advice])


def _commit_list(
    console: Console,
    entries: Sequence[Entry],
    zone: ZoneInfo,
    say: Catalogue,
    *,
    reasons: Language | None = None,
    dated: bool = False,
) -> Iterator[Line]:
    """Yield commits in columns with the title last, and below it what follows in the language `reasons`, if given."""
    sizes = [Text.assemble(*_diff_size(entry.commit)) for entry in entries]
    authors = [Text(one_line(entry.commit.author), style="dim") for entry in entries]
    size_width, author_width = (max(each.cell_len for each in column) for column in (sizes, authors))
    for entry, size, author in zip(entries, sizes, authors, strict=True):
        commit = entry.commit
        size.pad_left(size_width - size.cell_len)
        author.truncate(min(author_width, _AUTHOR_WIDTH), overflow="ellipsis", pad=True)
        lead = Text("  ").join(
            [
                sha_link(commit),
                Text(_when(commit.committed_at, zone, dated=dated), style="dim"),
                size,
                *([author] if console.width >= _MIN_WIDTH_FOR_AUTHORS else []),
                Text(),
            ]
        )
        yield Line(_title_text(entry, say, reasons), lead)


def _title_text(entry: Entry, say: Catalogue, reasons: Language | None) -> Text:
    commit = entry.commit
    title = Text.assemble((one_line(commit.title) or commit.short_sha, link_style("", commit.url)))
    if not commit.read:
        title.append(f"  ⚠️ {say('Failed')}", style="red")
    elif reasons:
        if follows := "; ".join(map(one_line, consequences(entry, reasons))):
            title.append(f"\n{follows}", style="dim italic")
        if entry.analysis and entry.analysis.by == "model":
            title.append("\n").append_text(prose(entry.analysis.summary))
    return title


def _print_coverage(console: Console, report: DayReport, say: Catalogue) -> None:
    coverage, colon = report.coverage, say(": ")
    console.print()
    _print(console, Text(say("📦 Coverage"), style="bold"))
    _print(console, Text(counts.coverage_sentence(report), style="dim"))
    if report.usage.model:
        _print(console, Text(one_line(counts.usage(report.usage, report.language)), style="dim"))
    for label, style, failures in (
        (say("Rule-based instead"), "yellow", coverage.replaced),
        (say("Failed"), "red", coverage.failed),
    ):
        for each in failures:
            why = one_line(each.translated(report.language))
            _print(console, Text(f"{label} {each.sha[:7]}{colon}{why}", style=style))
    for remark in coverage.remarks:
        _print(console, Text(say("Note") + colon + say(REMARKS[remark]), style="yellow"))


def _indented(text: Text) -> Line:
    return Line(text, _INDENT)


def _labelled_list(label: str, rows: Sequence[Text]) -> Iterator[Line]:
    if rows:
        yield _indented(Text(label, style="bold"))
    for row in rows:
        yield Line(row, _INDENTED_BULLET)


def _link_rows(entry: Entry, say: Catalogue) -> list[str]:
    links = entry.links
    rows = [say("reverts {sha}", sha=sha[:7]) for sha in links.all_reverted]
    if links.reverted_by:
        rows.append(say("reverted by {sha}", sha=links.reverted_by[:7]))
    if links.series:
        rows.append(say("part {part} of a series of {of}", part=links.series.part, of=links.series.of or "N"))
    rows += [say("fixes {sha}", sha=sha[:7]) for sha in links.fixes]
    rows += [say("fixed by {sha}", sha=sha[:7]) for sha in links.fixed_by]
    return [say("🔗 Related commits") + say(": ") + "; ".join(rows)] if rows else []


def sha_link(commit: Commit) -> Text:
    """Return a commit's abbreviated SHA, linked to it."""
    return Text(commit.short_sha, style=link_style("cyan", commit.url))


def link_style(style: str, url: str) -> Style:
    """Return a style with a link, if the address is one of the web."""
    link = Style(link=url) if url.startswith(("https://", "http://")) and url.isprintable() else Style()
    return Style.parse(style) + link


def _when(instant: datetime, zone: ZoneInfo, *, dated: bool) -> str:
    return f"{instant.astimezone(zone):{'%Y-%m-%d %H:%M' if dated else '%H:%M'}}"


def _diff_size(commit: Commit) -> tuple[tuple[str, str], ...]:
    if not commit.read:
        return (("?", "dim"),)
    return ((f"+{commit.additions:,}", "green"), (" ", ""), (f"−{commit.deletions:,}", "red"))


def _breaking_text(parts: Iterable[Part]) -> Text:
    """Render a breaking change with its places linked."""
    return Text.assemble(
        *(
            piece
            for part in parts
            for piece in (
                part.gap,
                Text(one_line(part.text), style=Style(dim=True, link=part.url)) if part.url else prose(part.text),
            )
        )
    )


def prose(text: str) -> Text:
    """Render analysis text with coloured code spans."""
    pieces = one_line(text).split("`")
    if len(pieces) % 2 == 0:
        return Text("`".join(pieces))
    return Text.assemble(*((piece, "cyan" if index % 2 else "") for index, piece in enumerate(pieces)))
