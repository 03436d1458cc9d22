"""The report for a terminal: colours, links and tables that fit the width; plain text where there is no terminal."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.style import Style
from rich.table import Table
from rich.text import Text

from analysis.asking import Statement
from analysis.language import BADGE, Words, usage_told, words
from analysis.models import Commit, DayReport, Entry, Importance, Language, Repository
from analysis.reasons import told
from analysis.report import counts
from analysis.report.breaking import SHOWN, Part, breaks, breaks_of
from analysis.text import one_line, visible

_COLOUR = {Importance.HIGH: "red", Importance.MEDIUM: "yellow", Importance.LOW: "green"}
_NAMES = 10  # of a kind that a commit breaks, with their places
_AUTHOR = 18  # columns; a longer name is cut
_WIDE = 100  # columns from which a table has room for the author


def print_report(console: Console, report: DayReport) -> None:
    """One day of one repository."""
    say = words(report.language)
    zone = ZoneInfo(report.timezone)
    console.print(Rule(Text(f"{report.repository} · {report.date} · {report.timezone}", style="bold")))
    console.print(Text(counts.statistics(report), style="bold"), justify="center")
    if not report.entries:
        console.print(Text(counts.nothing(report)), justify="center")
    _print_breaking(console, report, say)
    failed = {failure.sha: failure.told(report.language) for failure in report.failed}
    for tier in Importance:
        _print_tier(console, report, tier, failed, zone, say)
    if report.late:
        console.print()
        console.print(Text(say.label("late", count=len(report.late)), style="bold magenta"))
        console.print(Text(say.labels["late_why"], style="dim"))
        console.print(_table(console, report.late, zone, say, dated=True))
    _print_coverage(console, report, say)


def print_commit(
    console: Console,
    repository: Repository,
    entry: Entry,
    language: Language,
    zone: ZoneInfo,
    reason: str | None = None,
) -> None:
    """One commit with all that is known of it."""
    console.print(Rule(Text(str(repository), style="bold")))
    console.print(_in_full(entry, words(language), language, zone, reason, dated=True))


def print_answer(console: Console, statements: Iterable[Statement]) -> None:
    """An answer, each statement as soon as it is there, its places behind it."""
    for statement in statements:
        marker = "• " if statement.kind == "item" else "  " if statement.kind == "code" else ""
        text = Text(marker + visible(statement.text, keep="\n"))
        for each in statement.citations:
            text.append(f"  {one_line(each.label)}", style=Style(dim=True, link=each.url))
        console.print(text)


def print_found(console: Console, found: Sequence[tuple[str, Commit]], zone: ZoneInfo) -> None:
    """Commits that a search found, best first."""
    many = len({repository for repository, _ in found}) > 1
    table = _frame()
    table.add_column(no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for repository, commit in found:
        where = Text(f"{repository} ", style="dim") if many else Text()
        table.add_row(
            _sha(commit), f"{commit.committed_at.astimezone(zone):%Y-%m-%d}", where + Text(one_line(commit.title))
        )
    console.print(table)


def _print_breaking(console: Console, report: DayReport, say: Words) -> None:
    """What breaks those downstream, each with its place and its commit; nothing where nothing does."""
    found = breaks(report)
    if not found:
        return
    console.print()
    console.print(Text(say.label("breaking", count=len(found)), style="bold red"))
    rows = [Text("  ").join([_broken(each.told(report.language)), _sha(each.entry.commit)]) for each in found[:SHOWN]]
    if len(found) > SHOWN:
        rows.append(Text(say.label("more_breaking", count=len(found) - SHOWN), style="dim"))
    console.print(_listed(rows))


def _print_tier(
    console: Console, report: DayReport, tier: Importance, failed: dict[str, str], zone: ZoneInfo, say: Words
) -> None:
    entries = report.tier(tier)
    if not entries:
        return
    console.print()
    heading = say.label("tier", badge=BADGE[tier], importance=say.importance[tier], count=len(entries))
    console.print(Text(heading, style=f"bold {_COLOUR[tier]}"))
    if tier is not Importance.HIGH:
        console.print(
            _table(console, entries, zone, say, reasons=report.language if tier is Importance.MEDIUM else None)
        )
        return
    for entry in entries:
        console.print()
        console.print(_in_full(entry, say, report.language, zone, failed.get(entry.commit.sha)))


def _in_full(
    entry: Entry, say: Words, language: Language, zone: ZoneInfo, reason: str | None, *, dated: bool = False
) -> RenderableType:
    commit, ranked, analysis = entry.commit, entry.ranked, entry.analysis
    title = Text.assemble(
        (f"{BADGE[ranked.importance]} ", ""), (one_line(commit.title) or commit.short_sha, _linked("bold", commit))
    )
    types = " / ".join(say.change_types[each] for each in ranked.change_types)
    about = Text.assemble(
        _sha(commit),
        "  ",
        _when(commit.committed_at, zone, dated=dated),
        "  ",
        one_line(commit.author),
        "  ",
        *_size(commit),
        f"  {types}",
    )
    parts: list[RenderableType] = [title, Padding(about, (0, 0, 0, 3))]
    if commit.not_on:
        parts.append(_indented(Text(say.label("not_on_branch", branch=one_line(commit.not_on)), style="bold red")))
    if entry.watched:
        touched = " · ".join(one_line(f"{each.term} {each.place}") for each in entry.watched)
        parts.append(_indented(Text(f"{say.labels['watched']}{say.labels['colon']}{touched}", style="bold")))
    because = told(ranked, language)
    if because:
        parts.append(
            _indented(
                Text(
                    f"{say.labels['reasons']}{say.labels['colon']}" + "; ".join(map(one_line, because)), style="italic"
                )
            )
        )
    parts += _block(say.labels["breaks"], [_broken(each.told(language, _NAMES)) for each in breaks_of(entry)])
    parts += [_indented(Text(row)) for row in _links(entry, say)]
    if analysis is None:
        return Group(
            *parts,
            _indented(Text("⚠️ " + say.label("unread", reason=one_line(reason or say.labels["unknown"])), style="red")),
        )
    parts.append(_indented(_prose(analysis.summary)))
    parts += _block(say.labels["scope"], [_prose(row) for row in analysis.scope])
    insight = {name: text for name, text in analysis.insight.model_dump().items() if text}
    parts += _block(
        say.labels["insight"],
        [Text(f"{say.labels[name]}{say.labels['colon']}") + _prose(text) for name, text in insight.items()],
    )
    parts += _block(
        say.labels["risks"],
        [
            Text(f"[{say.severity[each.severity]}] ")
            + _prose(each.risk + (f" → {each.mitigation}" if each.mitigation else ""))
            for each in analysis.risks
        ],
    )
    parts += _block(say.labels["advice"], [_prose(row) for row in analysis.advice])
    if analysis.by == "rules":
        parts.append(_indented(Text(say.labels["by_rules"], style="dim")))
    return Group(*parts)


def _table(
    console: Console,
    entries: Sequence[Entry],
    zone: ZoneInfo,
    say: Words,
    *,
    reasons: Language | None = None,
    dated: bool = False,
) -> Table:
    wide = console.width >= _WIDE
    table = _frame()
    table.add_column(no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    if wide:
        table.add_column(style="dim", no_wrap=True, max_width=_AUTHOR, overflow="ellipsis")
    for entry in entries:
        commit = entry.commit
        title = Text(one_line(commit.title) or commit.short_sha, style=_linked("", commit))
        if commit.read and reasons:
            title.append("\n" + "; ".join(map(one_line, told(entry.ranked, reasons))), style="dim italic")
            if entry.analysis and entry.analysis.by == "model":
                title.append_text(Text("\n") + _prose(entry.analysis.summary))
        elif not commit.read:
            title.append(f"  ⚠️ {say.labels['failed']}", style="red")
        row: list[RenderableType] = [
            _sha(commit),
            _when(commit.committed_at, zone, dated=dated),
            title,
            Text.assemble(*_size(commit)),
        ]
        table.add_row(*row, *([one_line(commit.author)] if wide else []))
    return table


def _print_coverage(console: Console, report: DayReport, say: Words) -> None:
    coverage = report.coverage
    console.print()
    console.print(Text(say.labels["coverage"], style="bold"))
    console.print(Text(counts.coverage(report), style="dim"))
    if report.usage.model:
        console.print(Text(one_line(usage_told(report.usage, say)), style="dim"))
    for each in coverage.replaced:
        told_why = f"{say.labels['replaced']} {each.sha[:7]}{say.labels['colon']}{one_line(each.told(report.language))}"
        console.print(Text(told_why, style="yellow"))
    for remark in coverage.remarks:
        console.print(Text(f"{say.labels['remark']}{say.labels['colon']}{say.remarks[remark]}", style="yellow"))
    for failure in coverage.failed:
        console.print(
            Text(
                f"{say.labels['failed']} {failure.sha[:7]}{say.labels['colon']}{one_line(failure.told(report.language))}",
                style="red",
            )
        )


def _frame() -> Table:
    return Table(box=box.SIMPLE, show_header=False, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), expand=True)


def _block(label: str, rows: Sequence[Text]) -> list[RenderableType]:
    if not rows:
        return []
    return [_indented(Text(label, style="bold")), Padding(_listed(rows), (0, 0, 0, 5))]


def _listed(rows: Sequence[Text]) -> Table:
    # A grid, so that a row that has no space to break at stays beside its bullet.
    grid = Table.grid(padding=(0, 1, 0, 0))
    for row in rows:
        grid.add_row("•", row)
    return grid


def _links(entry: Entry, say: Words) -> list[str]:
    links = entry.links
    rows = [say.label("reverts", sha=sha[:7]) for sha in links.all_reverted]
    if links.reverted_by:
        rows.append(say.label("reverted_by", sha=links.reverted_by[:7]))
    if links.series:
        rows.append(say.label("series", part=links.series.part, of=links.series.of or "N"))
    rows += [say.label("fixes", sha=sha[:7]) for sha in links.fixes]
    rows += [say.label("fixed_by", sha=sha[:7]) for sha in links.fixed_by]
    return [f"{say.labels['links']}{say.labels['colon']}" + "; ".join(rows)] if rows else []


def _indented(content: RenderableType) -> Padding:
    return Padding(content, (0, 0, 0, 3))


def _sha(commit: Commit) -> Text:
    return Text(commit.short_sha, style=_linked("cyan", commit))


def _linked(style: str, commit: Commit) -> Style:
    link = (
        Style(link=commit.url)
        if commit.url.startswith(("https://", "http://")) and commit.url.isprintable()
        else Style()
    )
    return Style.parse(style) + link


def _when(instant: datetime, zone: ZoneInfo, *, dated: bool) -> str:
    return f"{instant.astimezone(zone):{'%Y-%m-%d %H:%M' if dated else '%H:%M'}}"


def _size(commit: Commit) -> tuple[tuple[str, str], ...]:
    if not commit.read:
        return (("?", "dim"),)
    return ((f"+{commit.additions:,}", "green"), (" ", ""), (f"−{commit.deletions:,}", "red"))


def _broken(parts: Iterable[Part]) -> Text:
    """What breaks somebody, its places linked."""
    return Text.assemble(
        *(
            piece
            for part in parts
            for piece in (
                part.gap,
                Text(one_line(part.text), style=Style(dim=True, link=part.url)) if part.url else _prose(part.text),
            )
        )
    )


def _prose(text: str) -> Text:
    """Analysis text with its code spans coloured."""
    pieces = one_line(text).split("`")
    if len(pieces) % 2 == 0:
        return Text("`".join(pieces))
    return Text.assemble(*((piece, "cyan" if place % 2 else "") for place, piece in enumerate(pieces)))
