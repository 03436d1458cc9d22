"""The digest as messages: one in the channel; in its thread the high commits, lists of the others, and the coverage."""

from collections.abc import Sequence

from analysis.consequences import breaks_others
from analysis.locale import catalogue
from analysis.models import DayReport, Entry, Importance
from analysis.report import counts
from analysis.text import shorten
from analysis.writing.labels import REMARKS, dated
from bot.models.downstream import UNASKED, DownstreamCheck
from bot.models.subjects import day_value
from bot.slack.messages.blocks import (
    Action,
    Block,
    Message,
    actions,
    as_json,
    button,
    context,
    escaped,
    fallback,
    section,
    split,
    with_menu,
)
from bot.slack.messages.commit import thread_messages
from bot.slack.messages.day_lists import coverage_blocks, late_blocks, tier_blocks
from bot.slack.messages.head import DigestHead, head_of, others
from bot.slack.messages.impacts import raised

_NAME = 300  # characters of a repository's name on the line of an empty day


def digest_messages(report: DayReport, value: str = "", check: DownstreamCheck = UNASKED) -> list[Message]:
    """Return the digest's messages in posting order; a day without commits is one message of one line.

    `value` is the value of its buttons, by default the day; `check` tells what breaks the channel's code.
    """
    if _empty(report):
        return [_one_line(report)]
    say = catalogue(report.language)
    failed = {failure.sha: failure.translated(report.language) for failure in report.failed}
    head = head_of(report, check)
    root, *thread = _summary(report, head, value=value, check=check)
    stored = {each.commit.sha: each for each in (*report.entries, *report.late)}
    report = raised(report, check)
    for entry in (*_told_apart(report), *(each for each in report.late if check.of(each.commit.sha))):
        reason = failed.get(entry.commit.sha)
        shown = stored[entry.commit.sha]
        thread += thread_messages(report.repository, shown, report.language, reason, check)
    for tier in (Importance.MEDIUM, Importance.LOW):
        thread += _messages([tier_blocks(report, tier, head.shown)], counts.tier_heading(report, tier), report)
    thread += _messages([late_blocks(report)], counts.late_heading(report), report)
    thread += _messages([coverage_blocks(report, check)], say("📦 Coverage"), report)
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
    say = catalogue(report.language)
    rest = others(report, check, head_of(report, check))
    groups = [*(tier_blocks(rest, tier) for tier in Importance), late_blocks(rest)]
    nothing = [section(say("Every commit has a line in the digest"))]
    what = _others_label(rest)
    return _messages(groups if any(groups) else [nothing], what, report)


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
        return _summary(report, head_of(report, check), post, above=noted, check=check)
    line = _one_line(report)
    return [line._replace(blocks=(*noted, *line.blocks, *([actions(*post)] if post else [])))]


def _empty(report: DayReport) -> bool:
    return not report.entries and not report.late


def _one_line(report: DayReport) -> Message:
    say = catalogue(report.language)
    name = escaped(f"{shorten(str(report.repository), _NAME)} · ") + dated(report.date, report.language)
    line = f"{name} · {counts.nothing(report)} · {counts.statistics(report)}"
    told = report.chosen.description if report.chosen else ""
    remarks = [context(each) for each in (told, *(say(REMARKS[remark]) for remark in report.remarks)) if each]
    return Message(fallback(line), (section(line), *remarks))


def _summary(
    report: DayReport,
    head: DigestHead,
    more_buttons: Sequence[Block] = (),
    *,
    value: str = "",
    above: Sequence[Block] = (),
    check: DownstreamCheck = UNASKED,
) -> list[Message]:
    """Return the first message; a further one only if hostile names leave it no room for its buttons."""
    buttons = _buttons(report, others(report, check, head), more_buttons, value)
    shown = raised(report, check)
    subject = f"{report.repository} · {dated(report.date, report.language)} · {counts.statistics(shown)}"
    text = fallback(" · ".join(filter(None, (head.worst, subject))))
    return [Message(text, blocks) for blocks in split([[*above, *head.blocks, buttons]])]


def _buttons(report: DayReport, rest: DayReport, more: Sequence[Block], value: str) -> Block:
    say = catalogue(report.language)
    value = value or day_value(report)
    left = len(rest.entries) + len(rest.late)
    shown = [
        *([button(_others_label(rest), Action.SHOW_REST, value)] if left else []),
        button(say("💬 Ask"), Action.ASK, value),
        *more,
    ]
    menu = [
        (say("📄 Full report"), Action.FULL_REPORT, value),
        (say("⚙️ Subscriptions"), Action.SETTINGS, value),
    ]
    return with_menu(shown, menu)


def _others_label(rest: DayReport) -> str:
    count = len(rest.entries) + len(rest.late)
    return catalogue(rest.language).plural("{count} other", "{count} others", count)


def _messages(groups: Sequence[Sequence[Block]], what: str, report: DayReport) -> list[Message]:
    text = fallback(f"{report.repository} · {report.date} · {what}")
    continued = context(catalogue(report.language)("Continued: {what}", what=what))
    return [Message(text, blocks) for blocks in split(groups, continued)]
