"""Impacts judged by what maintainers of plug-ins blamed afterwards, and the seconds and memory that they take."""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from analysis.models import Importance, Repository
from analysis.models.impacts import Impact
from analysis.ranking import importance_downstream
from analysis.sources.github import GitHub
from analysis.sources.mirrors import Mirrors
from tests.bench.checkers import disagreements
from tests.bench.figures import MB, Row, duration, percentile
from tests.bench.fortnights import Fortnight, Matched, MatchedCommit, Request, fortnights
from tests.bench.plugins import BELIEVED, Plugins, plugins
from tests.bench.processes import PYTHON, Run, run

KEEP = "BENCH_KEEP"  # the variable that names a folder for what was found, a file a month

_ROOT = Path(__file__).resolve().parents[2]
_PROCESSES = 2
_RECALL, _RECALL_PROVABLE, _PRECISION, _A_DAY = 0.60, 0.80, 0.50, 1.0
_LOW = 0.05  # of the blamed commits
_FIRST_SURFACE, _DAY, _PEAK = 20.0, 5.0, 500 * MB  # seconds for 1,100 files, seconds of the median day

_PROVABLE = ("i", "ii", "iii", "iv", "v")

Pair = tuple[str, str]  # a plug-in and an upstream commit


class Found(NamedTuple):
    """What the months gave: the upstream commits, their days, and the runs that found them."""

    months: Sequence[Matched]
    days: int
    runs: Sequence[Run]

    @property
    def commits(self) -> list[MatchedCommit]:
        return [commit for month in self.months for commit in month.commits]


def impact(*, settings: Mapping[str, str] = os.environ) -> Iterator[Row]:
    """The months of the plug-ins' clones that the settings name, or a made-up pair."""
    with TemporaryDirectory() as name, plugins(Path(name), settings) as served:
        kept = Path(settings.get(KEEP) or name)
        kept.mkdir(parents=True, exist_ok=True)
        found = _matched(served, Path(name), kept)
        yield Row(f"{len(found.commits):,} commits of {', '.join(served.months)}; {served.told}", "")
        yield from _judged(served, found)
        yield from _ranked(served, found)
        yield from _taken(found)
        yield from disagreements(served, found.months)


def _matched(served: Plugins, folder: Path, kept: Path) -> Found:
    """Match the months, each in a process of its own, and leave what was found in the folder `kept`."""
    mirrors, github = folder / "mirrors", GitHub(served.server.url, None)
    for name in served.bare:
        Mirrors(mirrors, github, None).updated(Repository.parse(name), create=True)
    github.close()

    def matched(month: str) -> tuple[Matched, Run]:
        request = Request(
            url=served.server.url,
            mirrors=mirrors,
            upstream=served.upstream,
            fortnights=tuple(_fortnight(served, *days) for days in fortnights(month)),
            result=kept / f"{month}.json",
        )
        asked = folder / f"{month}-request.json"
        asked.write_text(request.model_dump_json(), "utf-8")
        done = run([PYTHON, "-m", "tests.bench.fortnights", str(asked)], folder, {"PYTHONPATH": str(_ROOT)})
        return Matched.model_validate_json(request.result.read_text("utf-8")), done

    with ThreadPoolExecutor(_PROCESSES) as pool:
        months, runs = zip(*pool.map(matched, served.months), strict=True)
    days = sum((fortnights(month)[-1][-1] - fortnights(month)[0][0]).days for month in served.months)
    return Found(months, days, runs)


def _fortnight(served: Plugins, first: date, end: date) -> Fortnight:
    heads = {name: sha for name in served.bare if (sha := served.head_at(name, first))}
    return Fortnight(first=first, end=end, upstream=heads.pop(served.upstream, None), downstream=heads)


def _judged(served: Plugins, found: Found) -> Iterator[Row]:
    listed = {commit.sha for commit in found.commits}
    labels = defaultdict[Pair, list[Mapping[str, Any]]](list)
    for row in served.labels:
        if row["upstream_sha"] in listed:
            labels[row["downstream"], row["upstream_sha"]].append(row)
    flagged = {
        (name, commit.sha): impacts for commit in found.commits for name, impacts in commit.impacts.items() if impacts
    }
    yield from _recall(labels, flagged, found, served.downstream)
    for name in served.downstream if len(served.downstream) > 1 else ():
        yield Row(f"only {name}", "")
        ours = {pair: rows for pair, rows in labels.items() if pair[0] == name}
        yield from _recall(ours, {pair: each for pair, each in flagged.items() if pair[0] == name}, found, [name])
    yield Row("by kind of break: found of those blamed", _by_kind_of_break(labels, flagged))
    yield Row("by kind of impact: blamed of those flagged", _by_kind_of_impact(labels, flagged))


def _recall(
    labels: Mapping[Pair, Sequence[Mapping[str, Any]]],
    flagged: Mapping[Pair, Sequence[Impact]],
    found: Found,
    downstream: Sequence[str],
) -> Iterator[Row]:
    believed = _with(labels, lambda row: row["attribution"] in BELIEVED)
    provable = _with(labels, lambda row: row["attribution"] in BELIEVED and row["provability"] in _PROVABLE)
    for name, pairs, aim in (("named or corrected", believed, _RECALL), ("provable", provable, _RECALL_PROVABLE)):
        yield _share(f"  recall, {name}", len(pairs & flagged.keys()), len(pairs), aim)
    days = found.days * len(downstream)
    a_day = len(flagged) / days
    yield Row(
        "  flagged commits a day and plug-in",
        f"{a_day:.2f}",
        f"{len(flagged)} in {days} days; {len(flagged.keys() - labels.keys()) / days:.2f} nobody blamed",
        aim=f"<= {_A_DAY}",
        met=a_day <= _A_DAY,
        measured=True,
    )
    proven = {pair for pair, impacts in flagged.items() if impacts[0].certainty == "proven"}
    yield _share("  precision, at least", len(labels.keys() & flagged.keys()), len(flagged), _PRECISION)
    yield _share("    of those with a proven impact", len(labels.keys() & proven), len(proven))


def _with(labels: Mapping[Pair, Sequence[Mapping[str, Any]]], which: Callable[[Mapping[str, Any]], bool]) -> set[Pair]:
    return {pair for pair, rows in labels.items() if any(map(which, rows))}


def _share(name: str, part: int, whole: int, aim: float | None = None) -> Row:
    share = part / whole if whole else 0.0
    wanted = "" if aim is None else f">= {aim:.2f}"
    return Row(
        name, f"{share:.2f}", f"{part} of {whole}", "", wanted, None if aim is None else share >= aim, measured=True
    )


def _by_kind_of_break(labels: Mapping[Pair, Sequence[Mapping[str, Any]]], flagged: Collection[Pair]) -> str:
    blamed, hit = Counter[str](), Counter[str]()
    for pair, rows in labels.items():
        kinds = {row["kind"] for row in rows}
        blamed.update(kinds)
        hit.update(kinds if pair in flagged else ())
    return ", ".join(f"{kind} {hit[kind]} of {count}" for kind, count in blamed.most_common())


def _by_kind_of_impact(labels: Collection[Pair], flagged: Mapping[Pair, Sequence[Impact]]) -> str:
    every, blamed = Counter[str](), Counter[str]()
    for pair, impacts in flagged.items():
        kinds = {each.kind.value for each in impacts}
        every.update(kinds)
        blamed.update(kinds if pair in labels else ())
    return ", ".join(f"{kind} {blamed[kind]} of {count}" for kind, count in every.most_common())


def _ranked(served: Plugins, found: Found) -> Iterator[Row]:
    """The tiers of the commits for those who have one of the plug-ins."""
    blamed = {(row["downstream"], row["upstream_sha"]) for row in served.labels if row["attribution"] in BELIEVED}
    moved, low, still_low = 0, 0, 0
    for commit in found.commits:
        for name, impacts in commit.impacts.items():
            raised = importance_downstream(commit.ranked, broken=bool(impacts))
            moved += raised is not commit.ranked.importance and not impacts
            if (name, commit.sha) in blamed:
                low += commit.ranked.importance is Importance.LOW
                still_low += raised is Importance.LOW
    listed = len(blamed & {(name, commit.sha) for commit in found.commits for name in commit.impacts})
    days = found.days * len(served.downstream)
    yield Row(
        "blamed commits that are low for those who have the plug-in",
        f"{still_low / max(1, listed):.1%}",
        f"by importance alone {low / max(1, listed):.1%} of {listed}; {moved / days:.2f} more medium a day",
        aim=f"< {_LOW:.0%}",
        met=still_low < _LOW * listed,
        measured=True,
    )


def _taken(found: Found) -> Iterator[Row]:
    surfaces = [each for month in found.months for each in month.surfaces]
    first = max((each.fetched + each.extracted) * 1100 / max(1100, each.files) for each in surfaces)
    largest = max(surfaces, key=lambda each: each.files)
    yield Row(
        "first surface of 1,100 files, the slowest, in seconds of the processor",
        duration(first),
        f"{largest.files:,} files: fetch {duration(largest.fetched)}, extract {duration(largest.extracted)}",
        aim=f"<= {duration(_FIRST_SURFACE)}",
        met=first <= _FIRST_SURFACE,
        measured=True,
    )
    loaded = max(each.loaded for each in surfaces)
    days = list(_days(found.commits).values())
    yield Row(
        "impacts of a day that was read, the median, in seconds of the processor",
        duration(median := loaded + percentile(days, 0.5)),
        f"of it to load the surface {duration(loaded)}; the slowest day {duration(loaded + max(days))}",
        aim=f"<= {duration(_DAY)}",
        met=median <= _DAY,
        measured=True,
    )
    peak = max(each.peak for each in found.runs)
    seconds = max(each.seconds for each in found.runs)
    yield Row(
        "peak memory of a month",
        f"{peak / MB:.0f} MB",
        f"{duration(seconds)} for a month, with reading and facts",
        aim=f"< {_PEAK // MB} MB",
        met=peak < _PEAK,
        measured=True,
    )
    failed = sum(len(month.failed) for month in found.months)
    yield Row("commits that could not be read", str(failed), aim="0", met=not failed)


def _days(commits: Sequence[MatchedCommit]) -> Mapping[Pair, float]:
    """Return the seconds of each day's impacts on each plug-in."""
    days = defaultdict[Pair, float](float)
    for commit in commits:
        for name, seconds in commit.seconds.items():
            days[name, commit.committed_at.date().isoformat()] += seconds
    return days
