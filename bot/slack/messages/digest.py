"""The digest as messages: one in the channel; in its thread the high commits, lists of the others, and the coverage."""

import re
from collections.abc import Collection, Sequence
from zoneinfo import ZoneInfo

from analysis.citations import to_fact
from analysis.consequences import breaks_others, proven_consequences, title_line
from analysis.consequences.titles import is_written
from analysis.grounding.plain_text import sentences
from analysis.locale import catalogue
from analysis.locale.punctuation import join_items
from analysis.models import DayReport, Entry, Importance
from analysis.report import counts
from analysis.text import one_line, shorten
from analysis.writing.labels import BADGE, REMARKS, dated
from analysis.writing.purpose import purpose
from bot.models.downstream import UNASKED, DownstreamCheck
from bot.models.subjects import day_value
from bot.slack.messages.blocks import (
    Action,
    Block,
    Message,
    Piece,
    as_json,
    bullets,
    button,
    context,
    lines,
    linked,
    listed,
    ours,
    pack,
    post_button,
    prose,
    rich,
    section,
    side_by_side,
    with_menu,
)
from bot.slack.messages.commit import short_place, standing, thread_messages, to_commit, to_number
from bot.slack.messages.head import DigestHead, basis, digest_head, empty_digest, opening
from bot.slack.messages.impacts import THREAD_MARK, coverage_rows, raised

_REASONS = 300  # characters
_SENTENCE = 200  # characters
_PLACES = 2  # of a commit that the digest tells of
_BOTS = re.compile(
    r"\[bot\]$|[-_ ]bot$|^(dependabot|renovate|github-actions|mergify|pre-commit-ci|codecov|greenkeeper|snyk)\b",
    re.IGNORECASE,
)


def digest_messages(report: DayReport, value: str = "", check: DownstreamCheck = UNASKED) -> list[Message]:
    """Return the digest's messages in posting order; a day without commits is one message of one line.

    `value` is the value of its buttons, by default the day; `check` tells what breaks the channel's code.
    """
    if _is_empty(report):
        return [_one_line(report)]
    say, day = catalogue(report.language), raised(report, check)
    head = day_head(day, check)
    root, *thread = _root(day, head, value=value)
    failed = {failure.sha: failure.translated(report.language) for failure in report.failed}
    stored = {each.commit.sha: each for each in (*report.entries, *report.late)}
    broken_late = [each for each in day.late if check.of(each.commit.sha)]
    apart = [each.commit.sha for each in (*_told_apart(day), *broken_late)]
    for sha in apart:
        thread += thread_messages(report.repository, stored[sha], report.language, failed.get(sha, ""), check)
    for tier in (Importance.MEDIUM, Importance.LOW):
        thread += _pack([tier_blocks(day, tier, head.shown.union(apart))], counts.tier_heading(day, tier), day)
    thread += _pack([_late_blocks(day)], counts.late_heading(day), day)
    thread += _pack([_coverage_blocks(day, check)], say("📦 Coverage"), day)
    return [root, *(message._replace(thread=True) for message in thread)]


def _told_apart(report: DayReport) -> list[Entry]:
    """Return the commits that have messages of their own: those of high importance, then others that break anybody."""
    high = report.tier(Importance.HIGH)
    others = [each for each in report.entries if each.ranked.importance is not Importance.HIGH]
    return [*high, *(each for each in others if breaks_others(each, report.net(each)))]


def report_slack(reports: Sequence[DayReport]) -> str:
    """Return the messages of days as `as_json` does."""
    return as_json(message for report in reports for message in digest_messages(report))


def rest_messages(report: DayReport, check: DownstreamCheck = UNASKED) -> list[Message]:
    """Return the commits that have no line in the digest's head as private replies, as few as possible."""
    day = raised(report, check)
    rest = others(day, day_head(day, check))
    groups = [*(tier_blocks(rest, tier) for tier in Importance), _late_blocks(rest)]
    nothing = [section(catalogue(report.language)("Every commit has a line in the digest"))]
    return _pack(groups if any(groups) else [nothing], _others_label(rest), report)


def summary_message(
    report: DayReport, *, shareable: bool, note: str = "", check: DownstreamCheck = UNASKED
) -> list[Message]:
    """Return the day as a private reply: the channel's view, with a post button if `shareable`.

    `note` is an opening line of our own mrkdwn; `check` tells what breaks the channel's code.
    """
    above = [section(note)] if note else []
    post = [post_button(day_value(report), report.language)] if shareable else []
    if _is_empty(report):
        return [_one_line(report, above, post)]
    day = raised(report, check)
    return _root(day, day_head(day, check), above, post)


def day_head(day: DayReport, check: DownstreamCheck) -> DigestHead:
    """Return the head of a day's digest, whose importance is that for its channel: see `raised`."""
    troubles = _troubles(day)
    first = opening(day, dated(day.date, day.language), counts.statistics(day))
    late = counts.late_heading(day) if day.late else ""
    first += [rich(bullets(troubles))] if troubles else []
    return digest_head(day, check, first, [context(basis(day, check, late))], mark=THREAD_MARK)


def others(day: DayReport, head: DigestHead) -> DayReport:
    """Return the day's commits that have no line in its head, late ones included."""

    def rest(entries: Sequence[Entry]) -> tuple[Entry, ...]:
        return tuple(each for each in entries if each.commit.sha not in head.shown)

    return day.model_copy(update={"entries": rest(day.entries), "late": rest(day.late)})


def _is_empty(report: DayReport) -> bool:
    return not report.entries and not report.late


def _one_line(report: DayReport, above: Sequence[Block] = (), buttons: Sequence[Block] = ()) -> Message:
    remarks = map(catalogue(report.language), (REMARKS[each] for each in report.remarks))
    facts = f"{counts.nothing(report)} · {counts.statistics(report)}"
    return empty_digest(report, dated(report.date, report.language), facts, list(remarks), above, buttons)


def _root(
    day: DayReport, head: DigestHead, above: Sequence[Block] = (), buttons: Sequence[Block] = (), value: str = ""
) -> list[Message]:
    """Return the first message; a further one only if hostile names leave it no room for its buttons."""
    say, value, rest = catalogue(day.language), value or day_value(day), others(day, head)
    row = [
        *([button(_others_label(rest), Action.SHOW_REST, value)] if not _is_empty(rest) else []),
        button(say("💬 Ask"), Action.ASK, value),
        *buttons,
    ]
    menu = [
        (say("📄 Full report"), Action.FULL_REPORT, value),
        (say("❓ Why this message"), Action.WHY_HERE, value),
        (say("⚙️ Subscriptions"), Action.SETTINGS, value),
    ]
    subject = f"{day.repository} · {dated(day.date, day.language)} · {counts.statistics(day)}"
    text = " · ".join(filter(None, (head.worst, subject)))
    return pack(text, [[*above, *head.blocks, with_menu(row, menu)]])


def _others_label(rest: DayReport) -> str:
    count = len(rest.entries) + len(rest.late)
    return catalogue(rest.language).plural("{count} other", "{count} others", count)


def _pack(groups: Sequence[Sequence[Block]], what: str, report: DayReport) -> list[Message]:
    continued = catalogue(report.language)("Continued: {what}", what=what)
    return pack(f"{report.repository} · {report.date} · {what}", groups, continued)


def _troubles(report: DayReport) -> list[list[Piece]]:
    """Return the warnings: unread commits, and remarks on the day."""
    say = catalogue(report.language)
    rows = [ours(f"ℹ️ {say(REMARKS[remark])}") for remark in report.remarks]
    if report.failed:
        reasons = dict.fromkeys(one_line(failure.translated(report.language)) for failure in report.failed)
        commits = say.plural("{count} commit", "{count} commits", len(report.failed))
        reason = shorten("; ".join(reasons), _REASONS)
        rows.insert(0, prose(say("⚠️ {commits} could not be read: {reason}", commits=commits, reason=reason)))
    return rows


# The lists in the thread


def tier_blocks(report: DayReport, tier: Importance, told: Collection[str] = ()) -> list[Block]:
    """Return a tier as a list; commits by bots are one item.

    Those `told` above have their places alone, unless a model has written more about them than a message of their own says.
    """
    entries, say = report.tier(tier), catalogue(report.language)
    apart = [entry.commit.sha for entry in _told_apart(report)]
    written = [entry.commit.sha for entry in entries if is_written(entry) and entry.commit.sha not in apart]
    rest = [entry for entry in entries if entry.commit.sha not in told or entry.commit.sha in written]
    people = [entry for entry in rest if not _BOTS.search(entry.commit.author.strip())]
    bots = [entry for entry in rest if _BOTS.search(entry.commit.author.strip())]
    items = [_item(entry, report, brief=tier is Importance.LOW) for entry in people or bots]
    if people and bots:
        row = ours(say("🤖 and {count} by bots: ", count=len(bots)))
        items.append(row + side_by_side(_row(entry, report) for entry in bots))
    if above := [_places(entry) for entry in entries if entry not in rest]:
        items.append(ours(say("⬆️ {count} above: ", count=len(above))) + side_by_side(above))
    return [listed(ours(counts.tier_heading(report, tier), "bold"), items)] if items else []


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
    """Return a list item for a commit: its title, its linked number, its marks, and what a model wrote about it.

    Without a model it has a sentence about it, unless it is to be `brief`.
    """
    row = _row(entry, report)
    if entry.analysis and is_written(entry):
        row += ours("\n") + prose(entry.analysis.summary)
        return row + [piece for advice in entry.analysis.advice for piece in (*ours("\n→ "), *prose(advice))]
    summary = "" if brief or not entry.commit.read else _summary(entry, report)
    return row + (ours("\n") + prose(summary) if summary else [])


def _row(entry: Entry, report: DayReport) -> list[Piece]:
    """Return a commit's title, or the headline that a model gave it, its linked number and its marks."""
    commit, say = entry.commit, catalogue(report.language)
    written = entry.analysis.headline if entry.analysis else ""
    title = written or (title_line(entry, say) if commit.title else "")
    row = [*(prose(title) + ours(" ") if title else []), *to_number(commit), *standing(entry, report.language)]
    return row if commit.read else [*row, *ours(f"  ⚠️ {say('Failed')}")]


def _summary(entry: Entry, report: DayReport) -> str:
    """Return a sentence about a commit: of its facts or of its author; "" if there is none."""
    proven = proven_consequences(entry, report.language, report.net(entry))
    return proven[0] if proven else shorten(next(iter(sentences(purpose(entry.commit))), "").strip(), _SENTENCE)


def _late_blocks(report: DayReport) -> list[Block]:
    if not report.late:
        return []
    zone = ZoneInfo(report.timezone)
    items = [
        ours(f"{BADGE[entry.ranked.importance]} {entry.commit.committed_at.astimezone(zone):%Y-%m-%d} ")
        + _item(entry, report, brief=False)
        for entry in report.late
    ]
    return [listed(ours(counts.late_heading(report), "bold"), items), context(counts.late_note(report))]


def _coverage_blocks(report: DayReport, check: DownstreamCheck) -> list[Block]:
    """Return the coverage: counts, model usage, and every commit that failed, was analysed by rules, or was truncated."""
    say, coverage = catalogue(report.language), report.coverage
    usage = counts.usage(report.usage, report.language) if report.usage.model else ""
    remarks = [ours(say("Note") + say(": ") + say(REMARKS[each])) for each in coverage.remarks]
    failures = ((say("Failed"), coverage.failed), (say("Rule-based instead"), coverage.replaced))
    rows = [
        _coverage_item(label, each.sha, each.translated(report.language), report)
        for label, found in failures
        for each in found
    ]
    for each in coverage.shortened:
        left_out = say("omitted {paths}", paths=join_items(each.left_out, say))
        rows.append(_coverage_item(say("Shortened"), each.sha, left_out, report))
    chosen = report.chosen.description if report.chosen else ""
    heading = ours(say("📦 Coverage"), "bold") + ours(say(": ") + counts.coverage_sentence(report))
    return [
        rich(lines([heading, prose(chosen), prose(usage)])),
        rich(bullets([*remarks, *rows, *coverage_rows(check, report.language)])),
    ]


def _coverage_item(label: str, sha: str, what: str, report: DayReport) -> list[Piece]:
    say = catalogue(report.language)
    commit = (*report.entries, *report.late)[0].commit
    return [*ours(f"{label} "), *to_commit(commit, sha), *ours(say(": ")), *prose(what)]
