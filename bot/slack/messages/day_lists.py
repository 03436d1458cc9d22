"""The lists of a day: its commits by tier, those that landed late, and the coverage."""

import re
from collections.abc import Collection, Sequence
from zoneinfo import ZoneInfo

from analysis.citations import to_fact
from analysis.consequences import beside_title, title_line
from analysis.locale import catalogue
from analysis.locale.punctuation import join_items
from analysis.models import DayReport, Entry, Importance
from analysis.report import counts
from analysis.text import one_line
from analysis.writing.labels import BADGE, REMARKS
from analysis.writing.purpose import purpose
from bot.models.downstream import DownstreamCheck
from bot.slack.messages.blocks import (
    Block,
    Piece,
    bullets,
    context,
    cut,
    lines,
    linked,
    ours,
    paragraph,
    prose,
    rich,
    side_by_side,
)
from bot.slack.messages.commit import short_place, standing, to_commit, to_number
from bot.slack.messages.impacts import coverage_rows

_SENTENCE = 200  # characters
_PLACES = 2  # of a commit that the digest tells of
_BOTS = re.compile(
    r"\[bot\]$|[-_ ]bot$|^(dependabot|renovate|github-actions|mergify|pre-commit-ci|codecov|greenkeeper|snyk)\b",
    re.IGNORECASE,
)
_FIRST_SENTENCE = re.compile(r".*?(?:[。！？]|[.!?](?=\s+[^a-z]|$))")


def tier_blocks(report: DayReport, tier: Importance, told: Collection[str] = ()) -> list[Block]:
    """Return a tier as a list; commits by bots are one item, and those `told` in the digest have their places alone."""
    entries, say = report.tier(tier), catalogue(report.language)
    rest = [entry for entry in entries if entry.commit.sha not in told]
    people = [entry for entry in rest if not _BOTS.search(entry.commit.author.strip())]
    bots = [entry for entry in rest if _BOTS.search(entry.commit.author.strip())]
    items = [_item(entry, report, brief=tier is Importance.LOW) for entry in people or bots]
    if people and bots:
        row = ours(say("🤖 and {count} by bots: ", count=len(bots)))
        items.append(row + side_by_side(_item(entry, report, brief=True) for entry in bots))
    if above := [_places(entry) for entry in entries if entry.commit.sha in told]:
        items.append(ours(say("⬆️ {count} in the digest: ", count=len(above))) + side_by_side(above))
    return [_listed(counts.tier_heading(report, tier), items)] if items else []


def _places(entry: Entry) -> list[Piece]:
    """Return a commit's linked number, and the places where its first facts are proven."""
    commit = entry.commit
    cited = [to_fact(commit, fact) for fact in entry.facts if fact.breaking]
    places = [each for each in dict.fromkeys(cited) if each.url != commit.url]
    pieces = to_number(commit)
    for each in places[:_PLACES]:
        pieces += [*ours(" "), *linked(f"`{short_place(each.label)}`", each.url)]
    return pieces


def _item(entry: Entry, report: DayReport, *, brief: bool) -> list[Piece]:
    """Return a list item for a commit: its title, its linked number, its marks and, unless `brief`, a sentence about it."""
    commit, language = entry.commit, report.language
    title = title_line(entry, catalogue(language)) if commit.title else ""
    row = [*(prose(title) + ours(" ") if title else []), *to_number(commit), *standing(entry, language)]
    if not commit.read:
        return [*row, *ours(f"  ⚠️ {catalogue(language)('Failed')}")]
    summary = "" if brief else _summary(entry, report)
    return row + (ours("\n") + prose(summary) if summary else [])


def _summary(entry: Entry, report: DayReport) -> str:
    """Return a sentence about a commit: the model's, or without one its facts or its author's; "" if there is none."""
    if entry.analysis and entry.analysis.by == "model":
        return _first_sentence(entry.analysis.summary)
    return beside_title(entry, report.language, report.net(entry)) or _first_sentence(purpose(entry.commit))


def late_blocks(report: DayReport) -> list[Block]:
    if not report.late:
        return []
    zone = ZoneInfo(report.timezone)
    items = [
        ours(f"{BADGE[entry.ranked.importance]} {entry.commit.committed_at.astimezone(zone):%Y-%m-%d} ")
        + _item(entry, report, brief=False)
        for entry in report.late
    ]
    return [_listed(counts.late_heading(report), items), context(counts.late_note(report))]


def coverage_blocks(report: DayReport, check: DownstreamCheck) -> list[Block]:
    """Return the coverage: counts, model usage, and every commit that failed, was analysed by rules, or was truncated."""
    say, coverage = catalogue(report.language), report.coverage
    usage = counts.usage(report.usage, report.language) if report.usage.model else ""
    remarks = [ours(say("Note") + say(": ") + say(REMARKS[each])) for each in coverage.remarks]
    failed = [
        _coverage_item(say("Failed"), each.sha, each.translated(report.language), report) for each in coverage.failed
    ]
    instead = say("Rule-based instead")
    replaced = [
        _coverage_item(instead, each.sha, each.translated(report.language), report) for each in coverage.replaced
    ]
    shortened = [
        _coverage_item(say("Shortened"), each.sha, say("omitted {paths}", paths=join_items(each.left_out, say)), report)
        for each in coverage.shortened
    ]
    chosen = report.chosen.description if report.chosen else ""
    heading = ours(say("📦 Coverage"), "bold") + ours(say(": ") + counts.coverage_sentence(report))
    return [
        rich(lines([heading, prose(chosen), prose(usage)])),
        rich(bullets([*remarks, *failed, *replaced, *shortened, *coverage_rows(check, report.language)])),
    ]


def _coverage_item(label: str, sha: str, what: str, report: DayReport) -> list[Piece]:
    say = catalogue(report.language)
    commit = (*report.entries, *report.late)[0].commit
    return [*ours(f"{label} "), *to_commit(commit, sha), *ours(say(": ")), *prose(what)]


def _listed(heading: str, items: Sequence[Sequence[Piece]]) -> Block:
    return rich(paragraph(ours(heading, "bold")), bullets(items))


def _first_sentence(text: str) -> str:
    line = one_line(text)
    found = _FIRST_SENTENCE.match(line)
    sentence = found[0] if found else line
    if len(sentence) <= _SENTENCE:
        return sentence
    head = cut(sentence, _SENTENCE)[0]
    if head.count("`") % 2:
        head = head[: head.rindex("`")]
    return f"{head.rstrip(' ，、,')} …"
