"""The week as a message: what follows from its commits, what was reverted, what is announced to go, and how right the ranks were."""

from collections.abc import Sequence

from analysis.locale import catalogue
from analysis.models.weeks import WeekReport
from analysis.report import week_lines
from analysis.text import one_line, shorten
from analysis.writing.titles import number_of
from bot.models.downstream import UNASKED, DownstreamCheck
from bot.models.subjects import WeekRef, value_of
from bot.slack.messages.blocks import (
    Action,
    Block,
    Message,
    Piece,
    as_json,
    button,
    context,
    escaped,
    linked,
    listed,
    ours,
    pack,
    post_button,
    prose,
    section,
    with_menu,
)
from bot.slack.messages.head import basis, digest_head, empty_digest, opening
from bot.slack.messages.impacts import raised

_LINE = 300  # characters
_MOST = 6  # reverts, and announcements


def week_message(
    report: WeekReport,
    value: str = "",
    check: DownstreamCheck = UNASKED,
    *,
    shareable: bool = False,
    note: str = "",
    charted: bool = True,
) -> list[Message]:
    """Return the week's message; a further one only if hostile names leave it no room. Without commits it is one sentence.

    `value` is the value of its buttons, by default the week; one posts a private reply if it is `shareable`. `note` is an
    opening line of our own mrkdwn; `check` tells what breaks the channel's code. A message that is not `charted` has the
    chart's figures.
    """
    say, period = catalogue(report.language), week_lines.period(report)
    value = value or value_of(WeekRef(report.repository, report.first, report.timezone, report.language))
    post = [post_button(value, report.language)] if shareable else []
    above = [section(note)] if note else []
    notes = list(week_lines.notes(report))
    if not report.entries:
        return [empty_digest(report, period, week_lines.nothing(report), notes, above, post)]
    report = raised(report, check)
    statistics = week_lines.statistics(report)
    first = [*above, *opening(report, period, statistics), *(context(f"ℹ️ {each}") for each in notes)]
    last = [*_lists(report), *_closing(report, check, charted=charted)]
    head = digest_head(report, check, first, last)
    menu = [(say("❓ Why this message"), Action.WHY_HERE, value)]
    buttons = with_menu([*post, button(say("⚙️ Subscriptions"), Action.SETTINGS, value)], menu)
    text = " · ".join(filter(None, (head.worst, str(report.repository), period, statistics)))
    return pack(text, [[*head.blocks, buttons]])


def weeks_slack(reports: Sequence[WeekReport]) -> str:
    """Return the messages of weeks as `as_json` does; they have no chart, but its figures."""
    return as_json(message for report in reports for message in week_message(report, charted=False))


def chart_comment(report: WeekReport) -> str:
    """Return the words of the chart, as mrkdwn."""
    say = catalogue(report.language)
    legend = say("📊 Commits a day, from the foot of each bar: 🔴 high, 🟡 medium, 🟢 low")
    areas = escaped(week_lines.areas_line(report))
    return "\n".join(filter(None, (legend, areas)))


def _lists(report: WeekReport) -> list[Block]:
    """Return what was reverted, and what is announced to go."""
    say = catalogue(report.language)
    reverts = [(each.commit.sha, week_lines.revert_line(each, say)) for each in report.reverts]
    announced = [(each.entry.commit.sha, week_lines.announced_line(each, say)) for each in report.announced]
    found = ((week_lines.reverts_heading(report), reverts), (week_lines.announced_heading(report), announced))
    return [_list(heading, rows, report) for heading, rows in found if rows]


def _list(heading: str, rows: Sequence[tuple[str, str]], report: WeekReport) -> Block:
    """Return the first rows of (SHA, text) below a heading, and the number of the others."""
    commits = {each.commit.sha: each.commit for each in report.entries}
    shown: list[list[Piece]] = []
    for sha, text in rows[:_MOST]:
        commit = commits[sha]
        shown.append([*prose(shorten(one_line(text), _LINE)), *ours(" · "), *linked(number_of(commit), commit.url)])
    left = len(rows) - _MOST
    if left > 0:
        shown.append(ours(catalogue(report.language)("and {count} more", count=left), "italic"))
    return listed(ours(heading, "bold"), shown)


def _closing(report: WeekReport, check: DownstreamCheck, *, charted: bool) -> list[Block]:
    """Return in small print how right the ranks were, what the lines above rest on, and the chart's figures where there is none."""
    figures = [] if charted else [week_lines.days_line(report), week_lines.areas_line(report)]
    lines = [*week_lines.rank_lines(report), *figures, basis(report, check)]
    return [context(each) for each in lines if each]
