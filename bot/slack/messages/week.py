"""The week as a message: what follows from its commits, what was reverted, what is announced to go, and how right the ranks were."""

from collections.abc import Sequence

from analysis.consequences.period import GroupLines, shown_lines
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
    actions,
    as_json,
    bullets,
    button,
    context,
    escaped,
    fallback,
    header,
    linked,
    ours,
    paragraph,
    prose,
    rich,
    section,
    split,
)
from bot.slack.messages.head import first_headline, fitting, group_blocks, line_pieces
from bot.slack.messages.impacts import breaking_section, raised, worst_line

_NAME = 100  # characters of a repository's name in the header
_LONGEST_NAME = 300
_LINE = 300
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
    say = catalogue(report.language)
    value = value or value_of(WeekRef(report.repository, report.first, report.timezone, report.language))
    post = [button(say("📣 Post to channel"), Action.POST, value, style="primary")] if shareable else []
    noted = [section(note)] if note else []
    if not report.entries:
        line = _one_line(report)
        return [line._replace(blocks=(*noted, *line.blocks, *([actions(*post)] if post else [])))]
    report = raised(report, check)
    first = [*noted, *_opening(report), *breaking_section(report.entries, check, report.language)]
    last = [*_lists(report), *_closing(report, check, charted=charted)]
    groups = shown_lines(report, [sha for sha in check.commits if check.of(sha)], every_high=False)
    pieces = line_pieces(groups, say)
    buttons = actions(*post, button(say("⚙️ Subscriptions"), Action.SETTINGS, value))
    blocks = [*first, *group_blocks(fitting(groups, pieces, [*first, *last], say), pieces, say), *last, buttons]
    text = _notification(report, groups, check)
    return [Message(text, each) for each in split([blocks])]


def weeks_slack(reports: Sequence[WeekReport]) -> str:
    """Return the messages of weeks as `as_json` does; they have no chart, but its figures."""
    return as_json(message for report in reports for message in week_message(report, charted=False))


def chart_comment(report: WeekReport) -> str:
    """Return the words of the chart, as mrkdwn."""
    say = catalogue(report.language)
    legend = say("📊 Commits a day, from the foot of each bar: 🔴 high, 🟡 medium, 🟢 low")
    areas = escaped(week_lines.areas_line(report))
    return "\n".join(filter(None, (legend, areas)))


def _one_line(report: WeekReport) -> Message:
    name = escaped(f"{shorten(str(report.repository), _LONGEST_NAME)} · {week_lines.period(report)}")
    line = f"{name} · {week_lines.nothing(report)}"
    remarks = [*([report.chosen.description] if report.chosen else []), *(week_lines.notes(report))]
    return Message(fallback(line), (section(line), *(context(each) for each in remarks if each)))


def _opening(report: WeekReport) -> list[Block]:
    name = str(report.repository)
    return [
        header(f"{shorten(name, _NAME)} · {week_lines.period(report)}"),
        section(week_lines.statistics(report)),
        *([context(name)] if len(name) > _NAME else []),
        *(context(f"ℹ️ {each}") for each in week_lines.notes(report)),
    ]


def _lists(report: WeekReport) -> list[Block]:
    """Return what was reverted, and what is announced to go."""
    say = catalogue(report.language)
    reverts = [_row(week_lines.revert_line(each, say), each.commit.sha, report) for each in report.reverts]
    announced = [_row(week_lines.announced_line(each, say), each.entry.commit.sha, report) for each in report.announced]
    return [
        *_list(week_lines.reverts_heading(report), reverts, report),
        *_list(week_lines.announced_heading(report), announced, report),
    ]


def _list(heading: str, rows: Sequence[list[Piece]], report: WeekReport) -> list[Block]:
    if not rows:
        return []
    left = len(rows) - _MOST
    more = [ours(catalogue(report.language)("and {count} more", count=left), "italic")] if left > 0 else []
    return [rich(paragraph(ours(heading, "bold")), bullets([*rows[:_MOST], *more]))]


def _row(text: str, sha: str, report: WeekReport) -> list[Piece]:
    commit = next(each.commit for each in report.entries if each.commit.sha == sha)
    return [*prose(shorten(one_line(text), _LINE)), *ours(" · "), *linked(number_of(commit), commit.url)]


def _closing(report: WeekReport, check: DownstreamCheck, *, charted: bool) -> list[Block]:
    """Return in small print how right the ranks were, what the lines above rest on, and the chart's figures where there is none."""
    say = catalogue(report.language)
    about = [f"🕘 {report.timezone}"]
    if report.chosen:
        about.append(report.chosen.description)
    if check.commits:
        about.append(say("🔴 includes commits that break your code"))
    figures = [] if charted else [week_lines.days_line(report), week_lines.areas_line(report)]
    lines = [*week_lines.rank_lines(report), *figures, " · ".join(about)]
    return [context(each) for each in lines if each]


def _notification(report: WeekReport, groups: Sequence[GroupLines], check: DownstreamCheck) -> str:
    worst = worst_line(report.entries, check, report.language) or first_headline(groups)
    subject = f"{report.repository} · {week_lines.period(report)} · {week_lines.statistics(report)}"
    return fallback(" · ".join(filter(None, (worst, subject))))
