"""The digest as messages: one in the channel; in its thread the high commits, lists of the others, and the coverage."""

import re
from collections import Counter
from collections.abc import Sequence
from zoneinfo import ZoneInfo

from analysis.locale import catalogue
from analysis.locale.punctuation import join_items
from analysis.models import DayReport, Entry, Importance
from analysis.paths import Kind, area, kind
from analysis.report import counts
from analysis.report.breaking import SHOWN, Break, breaks
from analysis.text import one_line, shorten
from analysis.writing.labels import BADGE, REMARKS
from analysis.writing.reasons import strongest_reasons
from bot.models.downstream import UNASKED, DownstreamCheck
from bot.models.subjects import day_value
from bot.slack.messages.blocks import (
    Action,
    Block,
    Message,
    Piece,
    actions,
    bullets,
    button,
    context,
    cut,
    dated,
    escaped,
    fallback,
    fits,
    header,
    linked,
    ours,
    paragraph,
    prose,
    rich,
    section,
    split,
)
from bot.slack.messages.commit import broken, marks, thread_messages, to_commit
from bot.slack.messages.impacts import breaking_section, coverage_rows, raised, worst_line

_AREAS = 4
_TITLE = 300  # characters of a title in the first message; the thread has the full title
_NAME = 100  # characters of a repository's name in the header
_SENTENCE = 200
_SEAMS = 300  # characters that splitting a long list and the "continued" line may add
_BOTS = re.compile(
    r"\[bot\]$|[-_ ]bot$|^(dependabot|renovate|github-actions|mergify|pre-commit-ci|codecov|greenkeeper|snyk)\b",
    re.IGNORECASE,
)
_FIRST_SENTENCE = re.compile(r".*?(?:[。！？]|[.!?](?=\s+[^a-z]|$))")


def digest_messages(report: DayReport, value: str = "", check: DownstreamCheck = UNASKED) -> list[Message]:
    """Return the digest's messages in posting order; a day without commits is one message of one line.

    `value` is the value of its buttons, by default the day; `check` tells what breaks the channel's code.
    """
    if _empty(report):
        return [_one_line(report)]
    say, zone = catalogue(report.language), ZoneInfo(report.timezone)
    failed = {failure.sha: failure.translated(report.language) for failure in report.failed}
    root, *thread = _summary(report, value=value, check=check)
    stored = {each.commit.sha: each for each in (*report.entries, *report.late)}
    report = raised(report, check)
    broken_late = [each for each in report.late if check.of(each.commit.sha)]
    for entry in (*report.tier(Importance.HIGH), *broken_late):
        reason = failed.get(entry.commit.sha)
        shown = stored[entry.commit.sha]
        thread += thread_messages(report.repository, shown, report.language, zone, reason, check)
    for tier in (Importance.MEDIUM, Importance.LOW):
        thread += _messages([_tier(report, tier)], counts.tier_heading(report, tier), report)
    thread += _messages([_late(report)], counts.late_heading(report), report)
    thread += _messages([_coverage(report, check)], say("📦 Coverage"), report)
    return [root, *(message._replace(thread=True) for message in thread)]


def rest_messages(report: DayReport) -> list[Message]:
    """Return the medium, low and late commits as private replies, as few as possible."""
    say = catalogue(report.language)
    groups = [_tier(report, Importance.MEDIUM), _tier(report, Importance.LOW), _late(report)]
    nothing = [section(say("No commits of medium or low importance"))]
    return _messages(
        groups if any(groups) else [nothing],
        say("🟡🟢 Medium and low ({count})", count=report.stats.medium + report.stats.low),
        report,
    )


def summary_message(
    report: DayReport, *, shareable: bool, note: str = "", check: DownstreamCheck = UNASKED
) -> list[Message]:
    """Return the day as a private reply: the channel's view, with a post button if `shareable`.

    `note` is an opening line of our own mrkdwn; `check` tells what breaks the channel's code.
    """
    say = catalogue(report.language)
    post = [button(say("📣 Post to channel"), Action.POST, day_value(report), style="primary")] if shareable else []
    noted = [section(note)] if note else []
    if not _empty(report):
        return _summary(report, post, above=noted, check=check)
    line = _one_line(report)
    return [line._replace(blocks=(*noted, *line.blocks, *([actions(*post)] if post else [])))]


# The first message


def _empty(report: DayReport) -> bool:
    return not report.entries and not report.late


def _one_line(report: DayReport) -> Message:
    say = catalogue(report.language)
    name = escaped(f"{shorten(str(report.repository), _TITLE)} · ") + dated(report.date, report.language)
    line = f"{name} · {counts.nothing(report)} · {counts.statistics(report)}"
    told = report.chosen.description if report.chosen else ""
    remarks = [context(each) for each in (told, *(say(REMARKS[remark]) for remark in report.remarks)) if each]
    return Message(fallback(line), (section(line), *remarks))


def _summary(
    report: DayReport,
    more_buttons: Sequence[Block] = (),
    *,
    value: str = "",
    above: Sequence[Block] = (),
    check: DownstreamCheck = UNASKED,
) -> list[Message]:
    """Return the first message, and further ones with the high commits that do not fit into it.

    Its counts are those of the stored tiers, which are the same in every channel.
    """
    say, day = catalogue(report.language), (*report.entries, *report.late)
    before, after = [*above, *_head(report, check)], [_buttons(report, more_buttons, value)]
    heading = counts.tier_heading(report, Importance.HIGH)
    items = [_high_item(entry, report) for entry in report.tier(Importance.HIGH)]
    spare = context("·" * _SEAMS)
    shown = 0
    while shown < len(items) and fits([*before, _listed(heading, items[: shown + 1]), spare, *after]):
        shown += 1
    listed = _listed(heading, items[:shown]) if items else context(say("No commit of high importance"))
    rest = items[shown:]
    more = [context(say("⬇️ {count} more of high importance in the messages below", count=len(rest)))] if rest else []
    packed = split([[*before, listed, *more, *after]])
    packed += split([[rich(bullets(rest))]], _continued(heading, report))
    subject = f"{report.repository} · {dated(report.date, report.language)} · {counts.statistics(report)}"
    text = fallback(" · ".join(filter(None, (worst_line(day, check, report.language), subject))))
    return [Message(text, blocks) for blocks in packed]


def _head(report: DayReport, check: DownstreamCheck) -> list[Block]:
    say = catalogue(report.language)
    name = str(report.repository)
    about = [name] if len(name) > _NAME else []
    areas = [f"{shorten(each, _NAME)} ({count})" for each, count in _areas(report)]
    if areas:
        about.append(say("📁 In {areas}", areas=join_items(areas, say)))
    about.append(f"🕘 {report.timezone}")
    if report.late:
        about.append(counts.late_heading(report))
    if report.chosen:
        about.append(report.chosen.description)
    troubles = _troubles(report)
    return [
        header(f"{shorten(name, _NAME)} · {dated(report.date, report.language)}"),
        section(counts.statistics(report)),
        context(" · ".join(about)),
        *breaking_section((*report.entries, *report.late), check, report.language),
        *([rich(bullets(troubles))] if troubles else []),
        *_breaking(report),
    ]


def _breaking(report: DayReport) -> list[Block]:
    """Return the first rows of the breaking changes, with the number of the others."""
    say, found = catalogue(report.language), breaks(report)
    if not found:
        return []
    rows = [_break(each, report) for each in found[:SHOWN]]
    if len(found) > SHOWN:
        rows.append(ours(say("and {count} more, told with their commits", count=len(found) - SHOWN), "italic"))
    return [_listed(say("💥 Breaking changes ({count})", count=len(found)), rows)]


def _break(each: Break, report: DayReport) -> list[Piece]:
    commit = each.entry.commit
    return [*broken(each.parts(report.language)), *ours("  "), *linked(commit.short_sha, commit.url)]


def _areas(report: DayReport) -> list[tuple[str, int]]:
    """Return the areas whose source files most commits touch, with counts; any files if no commit touches source."""
    paths = [entry.commit.paths for entry in report.entries]
    for wanted in ({Kind.SOURCE}, set(Kind)):
        counted = Counter(each for some in paths for each in {area(path) for path in some if kind(path) in wanted})
        if counted:
            return sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:_AREAS]
    return []


def _troubles(report: DayReport) -> list[list[Piece]]:
    """Return the warnings: unread commits, and remarks on the day."""
    say = catalogue(report.language)
    rows = [ours(f"ℹ️ {say(REMARKS[remark])}") for remark in report.remarks]
    if report.failed:
        reasons = shorten(
            "; ".join(dict.fromkeys(one_line(failure.translated(report.language)) for failure in report.failed)), _TITLE
        )
        commits = say.plural("{count} commit", "{count} commits", len(report.failed))
        rows.insert(0, prose(say("⚠️ {commits} could not be read: {reason}", commits=commits, reason=reasons)))
    return rows


def _high_item(entry: Entry, report: DayReport) -> list[Piece]:
    title = shorten(one_line(entry.commit.title), _TITLE) or entry.commit.short_sha
    because = "; ".join(strongest_reasons(entry.ranked, report.language))
    reasons = prose(because, "italic")
    return [
        *linked(title, entry.commit.url, "bold"),
        *marks(entry, report.language),
        *(ours("\n") + reasons if reasons else []),
    ]


def _buttons(report: DayReport, more: Sequence[Block], value: str) -> Block:
    say, stats = catalogue(report.language), report.stats
    value = value or day_value(report)
    rest = stats.medium + stats.low
    return actions(
        *([button(say("🟡🟢 Medium and low ({count})", count=rest), Action.SHOW_REST, value)] if rest else []),
        button(say("📄 Full report"), Action.FULL_REPORT, value),
        button(say("💬 Ask"), Action.ASK, value),
        button(say("⚙️ Subscriptions"), Action.SETTINGS, value),
        *more,
    )


# The lists


def _tier(report: DayReport, tier: Importance) -> list[Block]:
    """Return a tier as a list; commits by bots are one item with their titles only."""
    entries = report.tier(tier)
    people = [entry for entry in entries if not _BOTS.search(entry.commit.author.strip())]
    bots = [entry for entry in entries if _BOTS.search(entry.commit.author.strip())]
    items = [_item(entry, report, brief=tier is Importance.LOW) for entry in people or bots]
    if people and bots:
        row = ours(catalogue(report.language)("🤖 and {count} by bots: ", count=len(bots)))
        for place, entry in enumerate(bots):
            row += (ours(" · ") if place else []) + _item(entry, report, brief=True)
        items.append(row)
    return [_listed(counts.tier_heading(report, tier), items)] if entries else []


def _item(entry: Entry, report: DayReport, *, brief: bool) -> list[Piece]:
    """Return a list item for a commit: its title and, unless `brief`, its author and the first sentence of its analysis."""
    commit, say = entry.commit, catalogue(report.language)
    pieces = [*linked(commit.title or commit.short_sha, commit.url), *marks(entry, report.language)]
    if not commit.read:
        return [*pieces, *ours(f"  ⚠️ {say('Failed')}")]
    if brief:
        return pieces
    summary = _first_sentence(entry.analysis.summary) if entry.analysis else ""
    return [*pieces, *ours(" · "), *prose(commit.author), *(ours("\n") + prose(summary) if summary else [])]


def _late(report: DayReport) -> list[Block]:
    if not report.late:
        return []
    zone = ZoneInfo(report.timezone)
    items = [
        ours(f"{BADGE[entry.ranked.importance]} {entry.commit.committed_at.astimezone(zone):%Y-%m-%d} ")
        + _item(entry, report, brief=False)
        for entry in report.late
    ]
    return [_listed(counts.late_heading(report), items), context(counts.late_note(report))]


def _coverage(report: DayReport, check: DownstreamCheck) -> list[Block]:
    """Return the coverage: counts, model usage, and every commit that failed, was analysed by rules, or was truncated."""
    say, coverage = catalogue(report.language), report.coverage
    usage = counts.usage(report.usage, report.language) if report.usage.model else ""
    remarks = [ours(say("Note") + say(": ") + say(REMARKS[each])) for each in coverage.remarks]
    failed = [
        _coverage_item(say("Failed"), each.sha, each.translated(report.language), report) for each in coverage.failed
    ]
    instead = say("By rules instead")
    replaced = [
        _coverage_item(instead, each.sha, each.translated(report.language), report) for each in coverage.replaced
    ]
    shortened = [
        _coverage_item(
            say("Shortened"), each.sha, say("left out {paths}", paths=join_items(each.left_out, say)), report
        )
        for each in coverage.shortened
    ]
    chosen = report.chosen.description if report.chosen else ""
    return [
        rich(paragraph(ours(say("📦 Coverage"), "bold"))),
        *([rich(paragraph(prose(chosen)))] if chosen else []),
        rich(paragraph(ours(counts.coverage(report)))),
        rich(paragraph(prose(usage))),
        rich(bullets([*remarks, *failed, *replaced, *shortened, *coverage_rows(check, report.language)])),
    ]


def _coverage_item(label: str, sha: str, what: str, report: DayReport) -> list[Piece]:
    say = catalogue(report.language)
    commit = (*report.entries, *report.late)[0].commit
    return [*ours(f"{label} "), *to_commit(commit, sha), *ours(say(": ")), *prose(what)]


def _messages(groups: Sequence[Sequence[Block]], what: str, report: DayReport) -> list[Message]:
    text = fallback(f"{report.repository} · {report.date} · {what}")
    return [Message(text, blocks) for blocks in split(groups, _continued(what, report))]


def _continued(what: str, report: DayReport) -> Block:
    return context(catalogue(report.language)("Continued: {what}", what=what))


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
