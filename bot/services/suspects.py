"""The search for the commits that caused a failure, among those that are stored. No model is asked, and no text kept."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.models import Entry, Repository
from analysis.models.impacts import CommitImpacts, DownstreamImpacts
from analysis.models.suspects import Suspect, SuspectReport
from analysis.paths import Kind, kind
from analysis.search.reports import Clues, clues_of, parse_report
from analysis.search.suspects import RankedSuspect, rank_suspects, telling_lines, upstream_names
from analysis.search.words import IndexedCommit, split_words
from analysis.window import parse_day, window
from bot.services.impact import ImpactService, ReportTerms
from bot.services.lookup import CommitLookup, Located
from bot.services.surfaces import ComparedSurface
from bot.store import Store

SEARCHED_DAYS = 90  # searched, if nothing else is asked
_MOST = 5  # suspects
_CONSIDERED = 10  # for their facts and impacts
_LEAST_MATCH = 0.3  # of the likeliest suspect's score
_LINES, _WORDS = 2, 5  # shown of a suspect
_BREAKING, _IMPACT = 1.1, 1.3  # what the score is multiplied by
_PACKAGE_SHARE = 0.1  # of the Python files that commits touch
_ROOTS = ("src", "lib", "python")


def end_of_search(until: str | None, tz: ZoneInfo, now: datetime) -> datetime:
    """Return the end of the day that `until` names, or now if that is earlier. Raise `Misuse` if it names none."""
    return min(window(parse_day(until, now.astimezone(tz).date()), tz).end, now) if until else now


class SuspectService:
    """Finds the stored commits that most likely caused a failure."""

    def __init__(self, store: Store, commits: CommitLookup, impacts: ImpactService) -> None:
        self._store = store
        self._commits = commits
        self._impacts = impacts

    def find(
        self,
        upstream: Repository,
        text: str,
        terms: ReportTerms,
        until: datetime | None = None,
        days: int = SEARCHED_DAYS,
    ) -> SuspectReport:
        """Return the suspects of a traceback, a log or a described failure, the likeliest first; maybe none.

        The commits of the `days` before `until`, by default now, are searched.

        Raise `Misuse` if no commit of the period is stored, and the errors of `ImpactService.surface`.
        """
        until = until or terms.now
        since = until - timedelta(days=days)
        documents = self._store.search_index.documents(upstream, since, until)
        if not documents:
            raise Misuse(
                Phrase(
                    "no commits of {repository} from {since} to {until} are stored; a digest or a backfill of these days stores them",
                    repository=upstream,
                    since=since.astimezone(terms.tz).date(),
                    until=until.astimezone(terms.tz).date(),
                )
            )
        surfaces = self._impacts.surfaces(upstream, (), terms)
        clues = _clues(text, upstream, documents, surfaces)
        found = rank_suspects(clues, documents, until)[:_CONSIDERED]
        return SuspectReport(
            repository=upstream,
            since=since,
            until=until,
            timezone=terms.tz.key,
            language=terms.language,
            searched=len(documents),
            suspects=self._suspects(upstream, clues, found, surfaces, terms),
            downstreams=tuple(each.downstream for each in surfaces),
            elsewhere=clues.frames and not clues.upstream,
        )

    def _suspects(
        self,
        upstream: Repository,
        clues: Clues,
        found: Sequence[RankedSuspect],
        surfaces: Sequence[ComparedSurface],
        terms: ReportTerms,
    ) -> tuple[Suspect, ...]:
        entries = [self._commits.entry(Located(upstream, each.id), terms.language, patches=True) for each in found]
        breaks: dict[str, tuple[DownstreamImpacts, ...]] = {}
        if surfaces and entries:
            compared: Sequence[CommitImpacts] = self._impacts.impacts(upstream, entries, surfaces, terms.now).commits
            breaks = {each.entry.commit.sha: each.found for each in compared}
        scores = {
            entry.commit.sha: each.score * _severity(entry, impaired=entry.commit.sha in breaks)
            for each, entry in zip(found, entries, strict=True)
        }
        best = max(scores.values(), default=1.0)
        suspects = [
            _suspect(entry, each, clues, scores[entry.commit.sha] / best, breaks.get(entry.commit.sha, ()))
            for each, entry in zip(found, entries, strict=True)
        ]
        likely = sorted((each for each in suspects if each.match >= _LEAST_MATCH), key=lambda each: -each.match)
        return tuple(likely[:_MOST])


def _severity(entry: Entry, *, impaired: bool) -> float:
    breaking = any(fact.breaking for fact in entry.facts)
    return (_BREAKING if breaking else 1.0) * (_IMPACT if impaired else 1.0)


def _suspect(
    entry: Entry, ranked: RankedSuspect, clues: Clues, match: float, impacts: tuple[DownstreamImpacts, ...]
) -> Suspect:
    files = tuple(each for each in ranked.shared if each in clues.paths)
    words = tuple(each for each in ranked.shared if each not in clues.paths)
    lines = telling_lines(entry.commit, words, _LINES)
    return Suspect(entry=entry, match=match, lines=lines, files=files, words=words[:_WORDS], impacts=impacts)


def _clues(
    text: str, upstream: Repository, documents: Sequence[IndexedCommit], surfaces: Sequence[ComparedSurface]
) -> Clues:
    packages = {each for surface in surfaces for each in surface.downstream.packages} or _packages(upstream, documents)
    report = parse_report(text)
    mapped = [name for each in surfaces for name in upstream_names(report.frames, each.uses.surface)]
    own = {word for each in surfaces for word in split_words(each.downstream.name)} - packages
    return clues_of(report, packages, mapped, own)


def _packages(upstream: Repository, documents: Sequence[IndexedCommit]) -> set[str]:
    """Return the packages that a repository seems to offer: its name, and the folders whose Python files commits touch."""
    folders: Counter[str] = Counter()
    for path in (path for each in documents for path in each.paths.split()):
        parts = path.split("/")
        parts = parts[1:] if parts[0] in _ROOTS else parts
        if len(parts) > 1 and path.endswith(".py") and kind(path) is Kind.SOURCE:
            folders[parts[0]] += 1
    least = _PACKAGE_SHARE * folders.total()
    return {upstream.name.lower().replace("-", "_"), *(each for each, count in folders.items() if count >= least)}
