"""Sentences about suspects that every report of them has."""

from zoneinfo import ZoneInfo

from analysis.locale import catalogue
from analysis.models import Language
from analysis.models.suspects import Suspect, SuspectReport
from analysis.report.impacts import impact_causes


def heading(report: SuspectReport) -> str:
    """Return which commits were searched: of the repository, the local days, their number."""
    say, zone = catalogue(report.language), ZoneInfo(report.timezone)
    days = f"{report.since.astimezone(zone):%Y-%m-%d} – {report.until.astimezone(zone):%Y-%m-%d}"
    commits = say.plural("{count} commit", "{count} commits", report.searched)
    return f"{report.repository} · {days} · {commits}"


def summary(report: SuspectReport) -> str:
    """Return what was found, or that nothing was and why."""
    say = catalogue(report.language)
    if report.elsewhere:
        return say(
            "No suspects: no frame or message of this traceback belongs to {repository}.", repository=report.repository
        )
    if not report.suspects:
        return say("No suspects: no stored commit of these days changes anything that is mentioned here.")
    return say("Most likely first:")


def reasons(suspect: Suspect, language: Language) -> list[str]:
    """Return why a commit is suspected, without its changed lines: what it breaks, then what it shares with the failure."""
    say = catalogue(language)
    found = [cause.sentence(language) for each in suspect.impacts for cause in impact_causes(each)[:1]]
    if suspect.files:
        found.append(say("changes {files}, which the traceback mentions", files=", ".join(suspect.files[:3])))
    if not suspect.lines:
        found.append(say("mentions {words}", words=", ".join(suspect.words)))
    return found
