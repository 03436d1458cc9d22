"""Reports as JSON, a stable format for other programs: which keys there are is said here, whatever the models have.

Keys that are fields or properties of a model are only named. They are no serializers of the models themselves, since the
store keeps those, and refuses a field that it does not know.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic_core import to_jsonable_python

from analysis.citations import to_fact, to_upstream_place
from analysis.consequences import consequences, first_line
from analysis.consequences.period import group_lines, lead_of
from analysis.impact.sentences import explanation
from analysis.locale import catalogue, translated
from analysis.models import Commit, DayReport, Entry, Fact, FoundCommit, Language
from analysis.models.compatibility import CompatibilityReport, NearestBreak, Version, VersionBreak
from analysis.models.consequences import Consequence
from analysis.models.impacts import CommitImpacts, Downstream, DownstreamImpacts, Impact, ImpactReport
from analysis.models.release_scores import RankedCommit, ReleaseScore
from analysis.models.suspects import Suspect, SuspectReport
from analysis.models.upgrades import Pin, Pinned, ReleaseNotes, UpgradeGroup, UpgradeReport, UpgradeRow
from analysis.models.weeks import WeekReport
from analysis.report.breaking import Break, breaks
from analysis.report.compatibility import badge, blind_spots, sentence, upstream_place
from analysis.report.markdown import CommitReport, Report, ScoreReport
from analysis.report.upgrades import consequence_line

# In JSON these occur only in strings, where an escape is equivalent and has no effect on a terminal or an editor.
_ACTIVE = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def json_lines(report: Report) -> Iterator[str]:
    """Yield a report as JSON objects, each on one line: one a commit of impacts and of suspects, otherwise one."""
    return map(_dump, _objects(report))


def badge_json(report: CompatibilityReport) -> str:
    """Return a compatibility report as a badge: the JSON object that shields.io's endpoint takes."""
    return _dump(badge(report)) + "\n"


def found_json(found: FoundCommit) -> str:
    """Return a commit that a search found as one JSON object on one line."""
    return _dump(found_object(found))


def _objects(report: Report) -> Iterator[dict[str, Any]]:
    match report:
        case DayReport():
            yield report_object(report)
        case CommitReport():
            yield {"repo": str(report.repository), **commit_object(report.entry, report.language)}
        case WeekReport():
            yield _week_object(report)
        case UpgradeReport():
            yield _upgrade_object(report)
        case CompatibilityReport():
            yield compatibility_object(report)
        case ScoreReport():
            yield _release_score_object(report.score)
        case ImpactReport():
            yield from (impacts_object(each, report.language) for each in report.commits)
        case SuspectReport():
            yield from (suspect_object(each, report.language) for each in report.suspects)


def report_object(report: DayReport) -> dict[str, Any]:
    """Return the report of a day with all its data, as in the JSON format."""
    return {
        "repo": str(report.repository),
        **_picked(report, "date timezone language"),
        "window": _picked(report.window, "start end"),
        **_picked(report, "stats coverage usage"),
        "edited": _edited_object(report),
        "commits": [commit_object(each, report.language, report.net(each)) for each in report.entries],
        "late": [commit_object(each, report.language, report.net(each)) for each in report.late],
        "breaking": [_break_object(each) for each in breaks(report)],
        **_picked(report, "net_facts"),
    }


def _edited_object(report: DayReport) -> dict[str, Any] | None:
    """Return how a model edited a day: its sentence, if that stands, and the order of the commits within their groups."""
    lead = lead_of(report)
    about = [each.commit.sha for each in lead.entries] if lead else []
    told = {"lead": lead.text if lead else "", "about": about}
    return {**told, **_picked(report.edit, "order")} if report.edit else None


def commit_object(entry: Entry, language: Language = "en", facts: Sequence[Fact] | None = None) -> dict[str, Any]:
    """Return a commit with all its data, as in the JSON format; `facts` are those that stand after a period."""
    commit, told = entry.commit, consequences(entry, language, facts)
    return {
        **_picked(commit, "sha short_sha url title author authored_at committed_at pr message"),
        "on_branch": commit.not_on is None,
        **_picked(commit, "additions deletions paths"),
        **_picked(entry.ranked, "importance score reasons breakage change_types"),
        "breaking": any(fact.breaking for fact in entry.facts),
        **_picked(entry, "facts"),
        "links": _picked(entry.links, "reverts reverted_by series fixes"),
        "released": _picked(entry.released, "state tag date"),
        "headline": first_line(entry, told, catalogue(language)),
        "consequences": [_consequence_object(commit, each) for each in told],
        "analysis": entry.analysis and _picked(entry.analysis, "by summary scope insight risks advice"),
        **(_picked(entry, "watched") if entry.watched else {}),
    }


def _consequence_object(commit: Commit, consequence: Consequence) -> dict[str, Any]:
    places = [to_fact(commit, fact) for fact in consequence.facts]
    return {**_picked(consequence, "what whom effect action certainty"), "evidence": to_jsonable_python(places)}


def found_object(found: FoundCommit) -> dict[str, Any]:
    """Return a commit that a search found, as in the JSON format."""
    commit = _picked(found.commit, "sha title author url committed_at")
    return {"repo": found.repository, **commit, "released": _picked(found.released, "state tag date")}


def impacts_object(row: CommitImpacts, language: Language) -> dict[str, Any]:
    """Return a commit with what it breaks, explained in a language, as in the JSON format."""
    return _impacts_row(row.entry, row.found, language)


def suspect_object(suspect: Suspect, language: Language) -> dict[str, Any]:
    """Return the row of a commit with its impacts, and why it is suspected, as in the JSON format."""
    why = {"match": round(suspect.match, 3), **_picked(suspect, "lines files words")}
    return {**_impacts_row(suspect.entry, suspect.impacts, language), "why": why}


def _impacts_row(entry: Entry, found: Sequence[DownstreamImpacts], language: Language) -> dict[str, Any]:
    impacts = [
        _impact_object(entry.commit, each.downstream, impact, language) for each in found for impact in each.impacts
    ]
    return {
        **_picked(entry.commit, "sha short_sha title url pr committed_at"),
        **_picked(entry.ranked, "importance score"),
        "impacts": impacts,
    }


def _impact_object(commit: Commit, downstream: Downstream, impact: Impact, language: Language) -> dict[str, Any]:
    told = str(translated(explanation(impact), language))
    return _place_object(impact, to_upstream_place(commit, impact).url, downstream, told)


def _place_object(impact: Impact, url: str | None, downstream: Downstream, told: str) -> dict[str, Any]:
    """Return an impact with the address of its upstream place, and why it is one."""
    upstream, place = impact.upstream, impact.downstream
    return {
        **_picked(impact, "kind certainty name"),
        "upstream": {**_picked(upstream, "path line"), "url": url, **_picked(upstream, "before after")},
        "downstream": {
            "repo": downstream.name,
            **_picked(place, "path line"),
            "url": downstream.url(place),
            "code": place.code,
        },
        "explanation": told,
        "advice": impact.advice,
    }


def compatibility_object(report: CompatibilityReport) -> dict[str, Any]:
    """Return between which versions a downstream tree has no proven break, as in the JSON format."""
    ends = [_version_object(each) for each in report.range]
    pinned, version = report.pinned, report.pinned_version
    return {
        "repo": str(report.repository),
        "downstream": {"repo": report.downstream.name, "sha": report.downstream.sha},
        "from": ends[0] if ends else None,
        "to": ends[-1] if ends else None,
        "failing": _breaks_objects(report, report.failing, None),
        "before": _nearest_object(report, report.before),
        "after": _nearest_object(report, report.after),
        "versions": [_version_object(each) for each in report.versions],
        "older": report.older,
        **_picked(report, "checked_at"),
        "cannot_see": {
            "names": to_jsonable_python(report.unseen),
            **_picked(report, "unknown guarded"),
            "remarks": list(blind_spots(report)),
        },
        "pin": pinned
        and {
            "version": pinned.pin.ref,
            "sha": report.pinned_sha,
            **_pin_object(pinned),
            "failing": len(version.lines) if version else None,
            **_picked(report, "agrees"),
        },
    }


def _version_object(version: Version) -> dict[str, Any]:
    return {**_picked(version, "name sha date is_release"), "failing": len(version.lines)}


def _nearest_object(report: CompatibilityReport, near: NearestBreak | None) -> dict[str, Any] | None:
    if near is None:
        return None
    commit = near.commit
    return {
        "version": _version_object(near.version),
        "commit": commit and _picked(commit, "sha short_sha title url pr committed_at"),
        "impacts": _breaks_objects(report, near.breaks, commit),
    }


def _breaks_objects(
    report: CompatibilityReport, found: Sequence[VersionBreak], commit: Commit | None
) -> list[dict[str, Any]]:
    return [
        {
            **_place_object(
                each.impact,
                upstream_place(commit, each.impact, early=each.early).url if commit else None,
                report.downstream,
                sentence(each, report.language),
            ),
            "early": each.early,
        }
        for each in found
    ]


def _upgrade_object(report: UpgradeReport) -> dict[str, Any]:
    groups = {
        group.value: [_upgrade_row(row, report.language) for row in report.group(group)] for group in UpgradeGroup
    }
    pin = _pin_object(report.pinned) if report.pinned else None
    return {
        "repo": str(report.repository),
        "from": {**_picked(report.start, "name sha"), "merge_base": report.merge_base, "pin": pin},
        "to": to_jsonable_python(report.end),
        **({"release": _release_object(report.release)} if report.release else {}),
        **_picked(report, "commits picked reverted ungrouped"),
        "groups": groups,
        **_picked(report, "proposal failed"),
        "unchecked": [{"repo": name, "reason": str(reason)} for name, reason in report.unchecked],
    }


def _release_object(release: ReleaseNotes) -> dict[str, Any]:
    highlights = [row.entry.commit.sha for row in release.highlights]
    return {**_picked(release, "tag date url notes"), "highlights": highlights}


def _pin_object(pinned: Pinned) -> dict[str, Any]:
    def versions(pins: Sequence[Pin]) -> list[dict[str, Any]]:
        return [{"version": pin.ref, "place": pin.place} for pin in pins]

    return {
        "place": pinned.pin.place,
        **_picked(pinned, "url places"),
        "others": versions(pinned.others),
        "missing": versions(pinned.missing),
    }


def _upgrade_row(row: UpgradeRow, language: Language) -> dict[str, Any]:
    return {
        **_impacts_row(row.entry, row.found, language),
        **_picked(row.entry.ranked, "change_types"),
        **_picked(row, "facts"),
        "consequence": consequence_line(row, language),
    }


def _release_score_object(score: ReleaseScore) -> dict[str, Any]:
    return {
        "repo": str(score.repository),
        **_picked(score, "release url published_at by_date commits ranked unranked"),
        "ranked_afterwards": score.afterwards,
        **_picked(score, "left_out named ranked_named tiers auc breaking"),
        "breaking_low": [_ranked_row(each) for each in score.breaking_low],
        "missed": [_ranked_row(each) for each in score.missed],
        **_picked(score, "corrections"),
    }


def _ranked_row(commit: RankedCommit) -> dict[str, Any]:
    return _picked(commit, "sha short_sha url title importance")


def _week_object(report: WeekReport) -> dict[str, Any]:
    """Return a week; the commits of its groups are named by SHA."""
    groups = {group.value: [each.entry.commit.sha for each in lines] for group, lines in group_lines(report).items()}
    return {
        "repo": str(report.repository),
        **_picked(report, "first last timezone language"),
        "days": [
            {"date": to_jsonable_python(day), "stats": to_jsonable_python(stats)} for day, stats in report.daily()
        ],
        **_picked(report, "stats"),
        "groups": groups,
        "reverts": [
            {
                "sha": each.commit.sha,
                "title": each.title,
                "landed_again": each.landed_again.sha if each.landed_again else None,
            }
            for each in report.reverts
        ],
        "announced": [{"sha": each.entry.commit.sha, **_picked(each, "facts")} for each in report.announced],
        **_picked(report, "areas corrections"),
        "score": _release_score_object(report.score) if report.score else None,
        "commits": [commit_object(each, report.language, report.net(each)) for each in report.entries],
        **_picked(report, "net_facts failed"),
    }


def _break_object(each: Break) -> dict[str, Any]:
    places = [to_fact(each.entry.commit, fact) for fact in each.facts]
    return {
        "sha": each.entry.commit.sha,
        "kind": each.facts[0].kind.value,
        "names": [fact.name for fact in each.facts],
        "places": to_jsonable_python(places),  # of the names, in their order
        "place": places[0].label,
        "url": places[0].url,
    }


def _picked(model: object, names: str) -> dict[str, Any]:
    """Return some fields and properties of a model, in this order, as JSON values."""
    return {name: to_jsonable_python(getattr(model, name)) for name in names.split()}


def _dump(value: dict[str, Any]) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _ACTIVE.sub(lambda match: json.dumps(match[0])[1:-1], text)
