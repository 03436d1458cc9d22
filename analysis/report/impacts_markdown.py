"""Impacts as Markdown: each commit with what it breaks, both places with their code."""

import sys
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from analysis.citations import to_upstream_place
from analysis.locale import catalogue
from analysis.models.impacts import ImpactReport, UpstreamPlace
from analysis.report.escape import link_text
from analysis.report.impacts import (
    comparison,
    downstream_name,
    impact_causes,
    impact_summary,
    missing,
    omissions,
    signed,
)
from analysis.report.markdown import address, render
from analysis.text import visible

_MARGIN = "\n    "  # of a block in an item of the second level


def impacts_markdown(report: ImpactReport, *, every_place: bool = False) -> str:
    """Render what the commits of a period break of downstream trees, with a few places of each cause or with `every_place`."""
    return render(
        "impacts.md.j2",
        **impact_values(every_place=every_place),
        report=report,
        say=catalogue(report.language),
        zone=ZoneInfo(report.timezone),
        several=len(report.downstreams) > 1,
        level="##",
        summary=impact_summary,
        comparison=comparison,
        omissions=omissions,
        missing=missing,
    )


def impact_values(*, every_place: bool) -> dict[str, Any]:
    """Return the values of the template of one commit's impacts, with a few places of each cause or with `every_place`."""
    return {
        "downstream_name": downstream_name,
        "causes": partial(impact_causes, places=sys.maxsize) if every_place else impact_causes,
        "upstream_place": to_upstream_place,
        "link": labelled_link,
        "code": lambda code: code_block("python", code),
        "diff": _diff,
    }


def labelled_link(label: str, url: str | None) -> str:
    return f"[{link_text(label)}]({address(url)})" if url else link_text(label)


def _diff(place: UpstreamPlace) -> str:
    lines = [f"{sign} {code}" for sign, code in signed(place)]
    return code_block("diff", "\n".join(lines)) if lines else ""


def code_block(language: str, code: str) -> str:
    """Return a block of code that nothing in it can end."""
    lines = visible(code, keep="\n").split("\n")
    fence = "`" * 3
    while any(fence in line for line in lines):
        fence += "`"
    return _MARGIN.join([f"{fence}{language}", *lines, fence])
