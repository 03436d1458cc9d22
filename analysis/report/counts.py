"""The headings and lines that every format of a day's report shares: statistics, tiers, late commits, coverage and usage."""

from collections.abc import Iterator
from typing import NamedTuple

from analysis.locale import Catalogue, catalogue, mark
from analysis.locale.punctuation import join_items
from analysis.models import DayReport, Entry, Importance, Language, ReadFrom, Stats, Usage
from analysis.writing.labels import BADGE, IMPORTANCE


def statistics(report: DayReport) -> str:
    """Return the day's commits by tier; `6 of 7` if a selection leaves some out."""
    unselected = report.chosen.unselected if report.chosen else 0
    if not unselected:
        return tiers(report.stats, report.language)
    say, counts = catalogue(report.language), report.stats.model_dump()
    counts["all"] = report.stats.total + unselected
    return say("Commits: {total} of {all} | 🔴 High {high} | 🟡 Medium {medium} | 🟢 Low {low}", **counts)


def tiers(stats: Stats, language: Language) -> str:
    """Return the commits of a day by tier."""
    say = catalogue(language)
    return say("Commits: {total} | 🔴 High {high} | 🟡 Medium {medium} | 🟢 Low {low}", **stats.model_dump())


def nothing(report: DayReport) -> str:
    """Return why a report has no commits: the day has none, or none of them is selected."""
    say = catalogue(report.language)
    if report.chosen and report.chosen.unselected:
        commits = say.plural("{count} commit", "{count} commits", report.chosen.unselected)
        return say("{commits} on this day, none in this channel's selection", commits=commits)
    return say("No commits on this day")


_READ_FROM = {
    ReadFrom.MIRROR: mark("read from the git mirror"),
    ReadFrom.API_INSTEAD: mark("read through GitHub's API, since the git mirror could not be used"),
}


def coverage(report: DayReport) -> str:
    """Return how many commits were listed, ranked, analysed and failed, and whether they were read from a mirror."""
    say, counted = catalogue(report.language), report.coverage
    counts = {**counted.model_dump(include={"listed", "ranked", "analysed", "by_rules"}), "failed": len(counted.failed)}
    line = say(
        "listed {listed} = ranked {ranked} = analysed by a model {analysed} + by rules {by_rules} + failed {failed}",
        **counts,
    )
    if left_out := _filtered_out(report):
        line += say(" + filtered out {count}", count=left_out)
    way = _READ_FROM.get(counted.read_from)
    return line + say("; ") + say(way) if way else line


def coverage_sentence(report: DayReport) -> str:
    """Return how the day's commits were analysed, for readers who want no equation."""
    say, counted = catalogue(report.language), report.coverage
    others = {
        mark("{count} failed"): len(counted.failed),
        mark("{count} filtered out"): _filtered_out(report),
    }
    way = _READ_FROM.get(counted.read_from)
    remarks = [say(each, count=count) for each, count in others.items() if count] + ([say(way)] if way else [])
    return say("; ").join([_analysed(counted.analysed, counted.by_rules, say), *remarks])


def _analysed(by_model: int, by_rules: int, say: Catalogue) -> str:
    """Return how many commits were analysed, and by what; apart if in both ways."""
    if by_model and by_rules:
        total = say.plural("{count} commit analysed", "{count} commits analysed", by_model + by_rules)
        ways = [say("{count} by a model", count=by_model), say("{count} by rules", count=by_rules)]
        return total + say(": ") + join_items(ways, say)
    if by_model:
        return say.plural("{count} commit analysed by a model", "{count} commits analysed by a model", by_model)
    if by_rules:
        return say.plural("{count} commit analysed by rules", "{count} commits analysed by rules", by_rules)
    return say.plural("{count} commit analysed", "{count} commits analysed", 0)


def _filtered_out(report: DayReport) -> int:
    return report.chosen.unselected + report.chosen.unselected_late if report.chosen else 0


def usage(used: Usage, language: Language) -> str:
    """Return what the model was given and what it cost, "unknown" for what is not known."""
    say = catalogue(language)

    def known(value: float | None, form: str = "{:,}") -> str:
        return say("unknown") if value is None else form.format(value)

    return say(
        "Model {model}: {calls}, {input} tokens in ({cached} cached), {output} out, {cost}, "
        "{removed} unsupported claims removed",
        model=used.model,
        calls=say.plural("{count} call", "{count} calls", used.calls),
        input=known(used.input_tokens),
        cached=known(used.cached_tokens),
        output=known(used.output_tokens),
        cost=known(used.cost_usd, "${:.4f}"),
        removed=known(used.removed_claims),
    )


class ReportSection(NamedTuple):
    """Commits of a report under a heading; `key` is their tier, or "late"."""

    key: str
    heading: str
    note: str
    entries: tuple[Entry, ...]


def sections(report: DayReport) -> Iterator[ReportSection]:
    """Yield the sections that have commits: the tiers, and what landed late."""
    for tier in Importance:
        if entries := report.tier(tier):
            yield ReportSection(tier.value, tier_heading(report, tier), "", entries)
    if report.late:
        yield ReportSection("late", late_heading(report), late_note(report), report.late)


def late_heading(report: DayReport) -> str:
    """Return the heading of the commits that landed late."""
    return catalogue(report.language)("⏰ Landed late ({count})", count=len(report.late))


def late_note(report: DayReport) -> str:
    """Return what the commits that landed late are."""
    say = catalogue(report.language)
    return say("These commits are dated earlier but reached the branch after that day's report.")


def tier_heading(report: DayReport, tier: Importance) -> str:
    """Return the heading of the commits of a tier."""
    say, count = catalogue(report.language), len(report.tier(tier))
    return say(
        "{badge} {importance} importance ({count})", badge=BADGE[tier], importance=say(IMPORTANCE[tier]), count=count
    )
