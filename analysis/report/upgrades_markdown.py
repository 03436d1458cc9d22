"""An upgrade as Markdown: every commit of every group, what breaks your code with both places."""

from zoneinfo import ZoneInfo

from analysis.locale import catalogue
from analysis.models.impacts import CommitImpacts
from analysis.models.upgrades import Consequence, UpgradeReport
from analysis.report.impacts_markdown import impact_values
from analysis.report.markdown import render
from analysis.report.upgrades import HEADINGS, consequence_text, remarks, summary, title, warnings


def upgrade_markdown(report: UpgradeReport) -> str:
    """Render what lies between two versions."""
    say = catalogue(report.language)
    groups = [
        (group, say(HEADINGS[group], count=len(report.group(group))), report.group(group)) for group in Consequence
    ]
    return render(
        "upgrade.md.j2",
        **impact_values(every_place=False),
        say=say,
        report=report,
        zone=ZoneInfo(report.timezone),
        several=len(report.downstreams) > 1,
        level="###",
        title=title(report),
        summary=summary(report),
        remarks=list(remarks(report)),
        warnings=list(warnings(report)),
        breaks_you=Consequence.BREAKS_YOU,
        groups=[each for each in groups if each[2]],
        impacts_of=lambda row: CommitImpacts(entry=row.entry, found=row.found),
        consequence=lambda group, row: consequence_text(group, row, report.language),
    )
