"""The chart of a week: commits by tier a day, and the folders that most of them touch.

The picture has only digits and dates, so that it needs no font for Chinese; its words are in the message beside it.
"""

from collections.abc import Sequence
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING

from analysis.locale import catalogue
from analysis.locale.punctuation import join_items
from analysis.models.weeks import WeekReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INCHES, _DPI = (6.4, 5.6), 150  # 960 x 840 pixels, drawn so that a phone's 340 still show its digits
_FONT = 15  # points
_PAPER, _INK, _FAINT = "#ffffff", "#1d1c1d", "#b8b8b8"
# Orange against blue-green, and each lighter than the one before: told apart without red and green, and without colour.
_HIGH, _MEDIUM, _LOW, _AREA = "#b5431c", "#f0a63c", "#a6d3cf", "#5b7fa6"
_ROOM = 0.08  # of the highest bar, below which a segment has no room for its number
_drawing = Lock()  # matplotlib's caches of fonts are not made for threads


def week_chart(report: WeekReport) -> bytes:
    """Return the chart as a PNG: above a bar a day, high at its foot, below a numbered bar a folder.

    A day that is not stored has a dotted line instead of a bar.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with _drawing:
        figure = Figure(figsize=_INCHES, dpi=_DPI, facecolor=_PAPER, layout="constrained")
        FigureCanvasAgg(figure)
        if report.areas:
            days, areas = figure.subplots(2, 1, height_ratios=(3, max(1.0, 0.34 * len(report.areas))))
            _draw_areas(areas, [each.commits for each in report.areas])
        else:
            days = figure.subplots()
        _draw_days(days, report)
        written = BytesIO()
        figure.savefig(written, format="png", metadata={"Software": None})
    return written.getvalue()


def chart_text(report: WeekReport) -> str:
    """Return the chart's numbers in words: its alternative text."""
    say, days = catalogue(report.language), []
    for day, stats in report.daily():
        counts = (
            say("{total} (high {high}, medium {medium}, low {low})", **stats.model_dump())
            if stats
            else say("not stored")
        )
        days.append(f"{day:%m-%d} {counts}")
    text = say("Commits a day: {days}.", days=say("; ").join(days))
    areas = join_items([f"{each.path} {each.commits}" for each in report.areas], say)
    return f"{text} {say('Commits by folder: {areas}.', areas=areas)}" if areas else text


def _draw_days(axes: "Axes", report: WeekReport) -> None:
    daily = report.daily()
    highest = max((stats.total for _, stats in daily if stats), default=0) or 1
    for place, (_, stats) in enumerate(daily):
        if stats is None:
            axes.plot([place - 0.3, place + 0.3], [0, 0], color=_FAINT, linewidth=4, linestyle=(0, (1, 1)))
            continue
        foot = 0
        for count, colour in ((stats.high, _HIGH), (stats.medium, _MEDIUM), (stats.low, _LOW)):
            axes.bar(place, count, 0.78, bottom=foot, color=colour, edgecolor=_PAPER, linewidth=1.5)
            if count > _ROOM * highest:
                ink = _PAPER if colour == _HIGH else _INK
                axes.text(place, foot + count / 2, str(count), ha="center", va="center", color=ink, fontsize=_FONT - 2)
            foot += count
        axes.text(place, foot + 0.02 * highest, str(foot), ha="center", va="bottom", color=_INK, fontsize=_FONT)
    axes.set_ylim(0, 1.12 * highest)
    axes.set_xlim(-0.6, len(daily) - 0.4)
    axes.set_xticks(range(len(daily)), [f"{day:%m-%d}" for day, _ in daily])
    _plain(axes)


def _draw_areas(axes: "Axes", counts: Sequence[int]) -> None:
    axes.barh(range(len(counts)), counts, 0.72, color=_AREA)
    for place, count in enumerate(counts):
        axes.text(count + 0.01 * max(counts), place, str(count), va="center", color=_INK, fontsize=_FONT)
    axes.set_xlim(0, 1.12 * max(counts))
    axes.set_yticks(range(len(counts)), [str(place + 1) for place in range(len(counts))])
    axes.invert_yaxis()
    _plain(axes)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)


def _plain(axes: "Axes") -> None:
    axes.set_facecolor(_PAPER)
    axes.tick_params(length=0, labelsize=_FONT, labelcolor=_INK)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(_FAINT)
    if axes.get_xticks().size and axes.get_yticks().size:
        axes.yaxis.set_visible(axes.yaxis_inverted())
