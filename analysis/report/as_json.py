"""The report as JSON, a stable format for other programs: its keys are defined here, whatever the models are."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from analysis.citations import to_fact, to_upstream_place
from analysis.impact.sentences import explanation
from analysis.locale import translated
from analysis.models import Commit, DayReport, Entry, Language, Links, Repository
from analysis.models.impacts import CommitImpacts, Downstream, DownstreamImpacts, Impact
from analysis.models.release_scores import RankedCommit, ReleaseScore
from analysis.models.suspects import Suspect
from analysis.models.upgrades import Consequence, Pinned, UpgradeReport, UpgradeRow
from analysis.models.weeks import WeekReport
from analysis.report.breaking import Break, breaks
from analysis.report.highlights import highlights
from analysis.report.upgrades import consequence_text

# In JSON these occur only in strings, where an escape is equivalent and has no effect on a terminal or an editor.
_ACTIVE = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def report_json(report: DayReport) -> str:
    """Return the report as one JSON object on one line."""
    return _dump(report_object(report))


def commit_json(repository: Repository, entry: Entry) -> str:
    """Return one commit as one JSON object on one line."""
    return _dump({"repo": str(repository), **commit_object(entry)})


def impacts_json(row: CommitImpacts, language: Language) -> str:
    """Return a commit with what it breaks of downstream trees as one JSON object on one line.

    The explanations are in the given language.
    """
    return _dump(impacts_object(row, language))


def suspect_json(suspect: Suspect, language: Language) -> str:
    """Return a suspect as one JSON object on one line."""
    return _dump(suspect_object(suspect, language))


def found_json(repository: str, commit: Commit) -> str:
    """Return a commit that a search found as one JSON object on one line."""
    return _dump(found_object(repository, commit))


def impacts_object(row: CommitImpacts, language: Language) -> dict[str, Any]:
    """Return a commit with what it breaks, as in the JSON format."""
    return _impacts_row(row.entry, row.found, language)


def suspect_object(suspect: Suspect, language: Language) -> dict[str, Any]:
    """Return the row of a commit with its impacts, and why it is suspected, as in the JSON format."""
    why = {
        "match": round(suspect.match, 3),
        "lines": [each.model_dump() for each in suspect.lines],
        "files": list(suspect.files),
        "words": list(suspect.words),
    }
    return {**_impacts_row(suspect.entry, suspect.impacts, language), "why": why}


def found_object(repository: str, commit: Commit) -> dict[str, Any]:
    """Return a commit that a search found, as in the JSON format."""
    return {
        "repo": repository,
        "sha": commit.sha,
        "title": commit.title,
        "author": commit.author,
        "url": commit.url,
        "committed_at": _instant(commit.committed_at),
    }


def _impacts_row(entry: Entry, found: Sequence[DownstreamImpacts], language: Language) -> dict[str, Any]:
    commit, ranked = entry.commit, entry.ranked
    return {
        "sha": commit.sha,
        "short_sha": commit.short_sha,
        "title": commit.title,
        "url": commit.url,
        "pr": commit.pr,
        "committed_at": _instant(commit.committed_at),
        "importance": ranked.importance.value,
        "score": ranked.score,
        "impacts": [
            _impact_object(commit, each.downstream, impact, language) for each in found for impact in each.impacts
        ],
    }


def upgrade_json(report: UpgradeReport) -> str:
    """Return what lies between two versions as one JSON object on one line."""
    groups = {group.value: [_upgrade_row(group, row, report) for row in report.group(group)] for group in Consequence}
    return _dump(
        {
            "repo": str(report.repository),
            "from": {**report.start.model_dump(), "merge_base": report.merge_base, "pin": _pin_object(report.pinned)},
            "to": report.end.model_dump(),
            "commits": report.commits,
            "picked": report.picked,
            "reverted": report.reverted,
            "ungrouped": report.ungrouped,
            "groups": groups,
            "failed": [failure.model_dump(mode="json") for failure in report.failed],
            "unchecked": [{"repo": name, "reason": str(reason)} for name, reason in report.unchecked],
        }
    )


def release_score_json(score: ReleaseScore) -> str:
    """Return how right the ranks of a release were as one JSON object on one line."""
    return _dump(_release_score_object(score))


def _release_score_object(score: ReleaseScore) -> dict[str, Any]:
    return {
        "repo": str(score.repository),
        "release": score.release,
        "url": score.url,
        "published_at": _instant(score.published_at),
        "by_date": score.by_date,
        "commits": score.commits,
        "ranked": score.ranked,
        "unranked": score.unranked,
        "ranked_afterwards": score.afterwards,
        "left_out": score.left_out,
        "named": score.named,
        "ranked_named": score.ranked_named,
        "tiers": {tier.value: count.model_dump() for tier, count in score.tiers.items()},
        "auc": score.auc,
        "breaking": score.breaking,
        "breaking_low": [_ranked_row(each) for each in score.breaking_low],
        "missed": [_ranked_row(each) for each in score.missed],
        "corrections": score.corrections.model_dump(),
    }


def _ranked_row(commit: RankedCommit) -> dict[str, Any]:
    return {
        "sha": commit.sha,
        "short_sha": commit.short_sha,
        "url": commit.url,
        "title": commit.title,
        "importance": commit.importance.value,
    }


def _pin_object(pinned: Pinned | None) -> dict[str, Any] | None:
    if pinned is None:
        return None
    others, missing = (
        [{"version": pin.ref, "place": pin.place} for pin in pins] for pins in (pinned.others, pinned.missing)
    )
    return {"place": pinned.pin.place, "url": pinned.url, "places": pinned.places, "others": others, "missing": missing}


def _upgrade_row(group: Consequence, row: UpgradeRow, report: UpgradeReport) -> dict[str, Any]:
    return {
        **_impacts_row(row.entry, row.found, report.language),
        "change_types": [each.value for each in row.entry.ranked.change_types],
        "facts": [fact.model_dump(mode="json") for fact in row.facts],
        "consequence": consequence_text(group, row, report.language),
    }


def _impact_object(commit: Commit, downstream: Downstream, impact: Impact, language: Language) -> dict[str, Any]:
    upstream, place = impact.upstream, impact.downstream
    return {
        "kind": impact.kind.value,
        "certainty": impact.certainty.value,
        "name": impact.name,
        "upstream": {
            "path": upstream.path,
            "line": upstream.line,
            "url": to_upstream_place(commit, impact).url,
            "before": upstream.before,
            "after": upstream.after,
        },
        "downstream": {
            "repo": downstream.name,
            "path": place.path,
            "line": place.line,
            "url": downstream.url(place),
            "code": place.code,
        },
        "explanation": str(translated(explanation(impact), language)),
        "advice": impact.advice,
    }


def commit_object(entry: Entry) -> dict[str, Any]:
    """Return a commit with all its data, as in the JSON format."""
    commit, ranked = entry.commit, entry.ranked
    return {
        "sha": commit.sha,
        "short_sha": commit.short_sha,
        "url": commit.url,
        "title": commit.title,
        "author": commit.author,
        "authored_at": _instant(commit.authored_at),
        "committed_at": _instant(commit.committed_at),
        "pr": commit.pr,
        "message": commit.message,
        "on_branch": commit.not_on is None,
        "additions": commit.additions,
        "deletions": commit.deletions,
        "paths": list(commit.paths),
        "importance": ranked.importance.value,
        "score": ranked.score,
        "reasons": [reason.model_dump() for reason in ranked.reasons],
        "breakage": ranked.breakage.model_dump(mode="json") if ranked.breakage else None,
        "change_types": [each.value for each in ranked.change_types],
        "breaking": any(fact.breaking for fact in entry.facts),
        "facts": [fact.model_dump(mode="json") for fact in entry.facts],
        "links": _links_object(entry.links),
        "analysis": entry.analysis.model_dump(mode="json") if entry.analysis else None,
        **({"watched": [each.model_dump() for each in entry.watched]} if entry.watched else {}),
    }


def report_object(report: DayReport) -> dict[str, Any]:
    """Return the report with all its data, as in the JSON format."""
    return {
        "repo": str(report.repository),
        "date": report.date.isoformat(),
        "timezone": report.timezone,
        "language": report.language,
        "window": {"start": _instant(report.window.start), "end": _instant(report.window.end)},
        "stats": report.stats.model_dump(),
        "coverage": report.coverage.model_dump(mode="json"),
        "usage": report.usage.model_dump(),
        "commits": [commit_object(entry) for entry in report.entries],
        "late": [commit_object(entry) for entry in report.late],
        "breaking": [_break_object(each) for each in breaks(report)],
        "net_facts": {sha: [fact.model_dump(mode="json") for fact in net] for sha, net in report.net_facts.items()},
    }


def week_json(report: WeekReport) -> str:
    """Return the week as one JSON object on one line; the commits of its groups are named by SHA."""
    groups = {theme.value: [each.entry.commit.sha for each in rows] for theme, rows in highlights(report).items()}
    return _dump(
        {
            "repo": str(report.repository),
            "first": report.first.isoformat(),
            "last": report.last.isoformat(),
            "timezone": report.timezone,
            "language": report.language,
            "days": [
                {"date": day.isoformat(), "stats": stats.model_dump() if stats else None}
                for day, stats in report.daily()
            ],
            "stats": report.stats.model_dump(),
            "groups": groups,
            **_week_lists(report),
            "areas": [each.model_dump() for each in report.areas],
            "corrections": report.corrections.model_dump(),
            "score": _release_score_object(report.score) if report.score else None,
            "commits": [commit_object(entry) for entry in report.entries],
            "net_facts": {sha: [fact.model_dump(mode="json") for fact in net] for sha, net in report.net_facts.items()},
            "failed": [failure.model_dump(mode="json") for failure in report.failed],
        }
    )


def _week_lists(report: WeekReport) -> dict[str, Any]:
    """Return what was reverted, and what is announced to go."""
    return {
        "reverts": [
            {
                "sha": each.commit.sha,
                "title": each.title,
                "landed_again": each.landed_again.sha if each.landed_again else None,
            }
            for each in report.reverts
        ],
        "announced": [
            {"sha": each.entry.commit.sha, "facts": [fact.model_dump(mode="json") for fact in each.facts]}
            for each in report.announced
        ],
    }


def _break_object(each: Break) -> dict[str, Any]:
    places = [to_fact(each.entry.commit, fact) for fact in each.facts]
    return {
        "sha": each.entry.commit.sha,
        "kind": each.facts[0].kind.value,
        "names": [fact.name for fact in each.facts],
        "places": [place.model_dump() for place in places],  # of the names, in their order
        "place": places[0].label,
        "url": places[0].url,
    }


def _links_object(links: Links) -> dict[str, Any]:
    return {
        "reverts": links.reverts,
        "reverted_by": links.reverted_by,
        "series": links.series.model_dump(mode="json") if links.series else None,
        "fixes": list(links.fixes),
    }


def _instant(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _dump(value: dict[str, Any]) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _ACTIVE.sub(lambda match: json.dumps(match[0])[1:-1], text)
