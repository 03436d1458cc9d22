"""The tools: each reads its arguments, calls the service that the command of the same name calls, and shortens the result."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from analysis.errors import Misuse, UnknownRepository
from analysis.locale import Language
from analysis.models import Repository
from analysis.models.impacts import ImpactReport
from analysis.models.suspects import SuspectReport
from analysis.questions.intent import language_of
from analysis.report.as_json import compatibility_object, found_object, impacts_object, suspect_object
from analysis.report.impacts import comparison, omissions, suspects_summary
from analysis.text import scalar
from analysis.window import parse_day
from bot.mcp.results import Result, commit_result, digest_result, result, rows_within
from bot.mcp.visibility import CLIENT, Visibility
from bot.models.clock import Clock
from bot.models.question_subject import question_subject
from bot.models.reference import Reference, days_or_commit, parse_reference
from bot.models.subjects import DayRef
from bot.services.digest import reports_of
from bot.services.downstream import asked_for, check_trees
from bot.services.factory import Services
from bot.services.impact import ReportTerms
from bot.services.limits import CallerLimits
from bot.services.reader import Reader
from bot.services.suspects import end_of_search
from bot.services.versions.compatibility import CompatibilityRequest

_MOST_DAYS = 31  # of a range, as in Slack
_MOST_FOUND = 50  # commits of a search

Short = Annotated[str, Field(max_length=200), AfterValidator(scalar)]
RepositoryName = Annotated[
    Short | None, Field(description="owner/name, or the short name of one that is followed; default: the one followed.")
]
DownstreamNames = Annotated[
    list[Short] | None,
    Field(description="The code that may break: owner/name[@ref] of a plug-in or fork.", max_length=3),
]


class Tools:
    """The tools of one server, for the clients that its visibility is for; thread-safe."""

    def __init__(
        self,
        services: Services,
        reader: Reader,
        visibility: Visibility,
        limits: CallerLimits,
        now: Clock,
        language: Language,
        tz: ZoneInfo,
    ) -> None:
        self._store = services.store
        self._sources = services.sources
        self._reader = reader
        self._visibility = visibility
        self._limits = limits
        self._now, self._language, self._tz = now, language, tz
        self._questions = services.period_questions
        self._impacts = services.impacts
        self._compatibility = services.compatibility
        self._suspects = services.suspects

    def digest(
        self,
        repository: RepositoryName = None,
        date: Annotated[Short, Field(description="2026-02-05, today, yesterday, -3 (days ago) or mon")] = "yesterday",
    ) -> Result:
        """Report one day's commits of a repository: ranked, analysed, with what breaks its users first.

        Commits of high importance are given in full, the others in a line each. A day that was not read yet takes up to a
        minute or two.
        """
        with self._admitted():
            chosen, day = self._visibility.only(repository), parse_day(date, self._today)
            ref = DayRef(chosen, day, self._tz.key, self._language)
            return digest_result(self._reader.report(ref, self._now()))

    def commit(
        self,
        reference: Annotated[
            Annotated[str, Field(max_length=500), AfterValidator(scalar)],
            Field(description="A SHA or a prefix of it, #123, or the URL of a commit or pull request."),
        ],
        repository: RepositoryName = None,
    ) -> Result:
        """Show one commit in full: facts that its diff proves, rank with reasons, analysis, and links to other commits."""
        with self._admitted():
            parsed = parse_reference(reference)
            self._visibility.check(parsed)
            located = self._reader.commit(parsed, self._visibility.only(repository) if repository else None)
            return commit_result(located.repository, self._reader.shown_entry(located, self._language))

    def search(
        self,
        words: Annotated[
            str,
            Field(description='Any of the words matches; +word and "quoted words" are required.', max_length=500),
            AfterValidator(scalar),
        ],
        repository: RepositoryName = None,
        limit: Annotated[int, Field(ge=1, le=_MOST_FOUND)] = 20,
    ) -> Result:
        """Find stored commits by title, message, paths, summary and the names in changed lines, the best first."""
        with self._admitted():
            if not words.strip():
                raise Misuse('no words to search for; use some, such as memory leak, +timeout or "worker pool"')
            among = self._visibility.repositories(repository)
            self._store.search_index.complete()
            found = self._store.search_index.search(words, among, limit + 1)
            if not found and self._store.is_empty():
                raise Misuse("nothing is stored yet; call digest for a day first")
            more = f"Only the best {limit} are listed; raise limit (at most {_MOST_FOUND}) or use more specific words."
            rows = [found_object(each) for each in self._sources.with_releases(found[:limit])]
            return result([more] if len(found) > limit else [], commits=rows)

    def impact(
        self,
        reference: Annotated[
            Short,
            Field(description="A day (2026-02-05, yesterday), a range FROM..TO of at most 31 days, or one commit."),
        ] = "yesterday",
        downstream: DownstreamNames = None,
        repository: RepositoryName = None,
    ) -> Result:
        """Show which commits break downstream code: where upstream, where downstream, why, and what to write instead."""
        with self._admitted():
            terms = ReportTerms(self._downstreams(downstream), self._language, self._tz, self._now())
            subject = days_or_commit(reference, self._today)
            if isinstance(subject, list):
                days = _limited(subject)
                report = self._impacts.of_days(self._visibility.only(repository), days, terms)
            else:
                self._visibility.check(subject)
                report = self._impacts.of_commit(subject, self._visibility.repositories(repository), terms)
            return _impact_result(report)

    def compat(
        self,
        downstream: DownstreamNames = None,
        repository: RepositoryName = None,
        candidates: Annotated[bool, Field(description="Look at release candidates, too.")] = False,  # noqa: FBT002 (an argument of a tool)
    ) -> Result:
        """Show with which upstream releases downstream code has no proven break, and the nearest break before and after.

        It takes up to a minute or two.
        """
        with self._admitted():
            upstream, trees = self._visibility.only(repository), self._downstreams(downstream)
            asked = (CompatibilityRequest(upstream, each, self._language, self._now(), candidates) for each in trees)
            return result(reports=[compatibility_object(self._compatibility.report(each)) for each in asked])

    def suspects(
        self,
        text: Annotated[
            str,
            Field(description="A traceback, a log or a sentence that describes the failure.", max_length=500_000),
            AfterValidator(scalar),
        ],
        repository: RepositoryName = None,
        until: Annotated[Short | None, Field(description="The last day to search; default: today.")] = None,
        days: Annotated[int, Field(description="Number of days to search.", ge=1, le=365)] = 90,
        downstream: DownstreamNames = None,
    ) -> Result:
        """Show the stored commits that most likely caused a failure, and the changed lines that say so.

        The text is searched here; it is neither stored nor shown to a model.
        """
        with self._admitted():
            if not text.strip():
                raise Misuse("the text is empty; pass a traceback, a log or a sentence that describes the failure")
            now = self._now()
            trees = self._downstreams(downstream, needed=False)
            terms = ReportTerms(trees, self._language, self._tz, now)
            end = end_of_search(until, self._tz, now)
            self._store.search_index.complete()
            repositories = self._visibility.repositories(repository)
            reports, _ = reports_of(repositories, lambda each: self._suspects.find(each, text, terms, end, days))
            return _suspects_result(reports)

    def ask(
        self,
        question: Annotated[str, Field(description="In English or Chinese.", max_length=2_000), AfterValidator(scalar)],
        reference: Annotated[
            Short,
            Field(
                description="A commit, a day, a range FROM..TO of at most 31 days, or owner/name;"
                " default: the days that the question names, or else the last week."
            ),
        ] = "",
        repository: RepositoryName = None,
        downstream: DownstreamNames = None,
    ) -> Result:
        """Answer a question about a commit, about days or about a repository, with the places that prove each statement.

        It may ask a model, within the operator's daily budget; without one the answer is made by rules.
        """
        with self._admitted():
            if not self._limits.allows_question(CLIENT):
                raise Misuse("limit: 10 questions a minute; try again shortly")
            language = language_of(question, self._language)
            subject = question_subject(reference, question, self._visibility.repositories, repository, self._today)
            if isinstance(subject.about, Reference):
                self._visibility.check(subject.about)
            else:
                _limited(subject.about.days)
            read = partial(self._reader.report, now=self._now(), ask=False)
            trees = self._downstreams(downstream, needed=False)
            trees = trees if downstream else asked_for(question, trees)
            check = partial(check_trees, self._impacts, trees=trees, now=self._now(), then=True) if trees else None
            statements = self._questions.answer_subject(subject, question, language, self._tz, read, check)
            kept = {"text", "kind", "citations"}
            return result(statements=[each.model_dump(mode="json", include=kept) for each in statements])

    @property
    def _today(self) -> date:
        return self._now().astimezone(self._tz).date()

    @contextmanager
    def _admitted(self) -> Iterator[None]:
        """Raise `Misuse` if the client is over its limit; of a hidden repository and of one that does not exist the same."""
        if not self._limits.allows_request(CLIENT):
            raise Misuse("limit: 20 requests a minute; try again shortly")
        try:
            yield
        except UnknownRepository as exc:
            known = ", ".join(map(str, self._reader.known)) or "none"
            raise Misuse(f"no such repository or branch is available here; followed are: {known}") from exc

    def _downstreams(self, names: Sequence[str] | None, *, needed: bool = True) -> list[Repository | Path]:
        found = self._visibility.downstreams(names or ())
        if needed and not found:
            raise Misuse("name the code that may break in downstream, such as owner/name of a plug-in")
        return found


def _limited(days: Sequence[date]) -> Sequence[date]:
    if len(days) > _MOST_DAYS:
        raise Misuse(f"a range is at most {_MOST_DAYS} days; use {days[0]}..{days[_MOST_DAYS - 1]}")
    return days


def _impact_result(report: ImpactReport) -> Result:
    rows, left_out = rows_within(impacts_object(each, report.language) for each in report.commits)
    missing = [f"{each.date} could not be read ({each.reason}); call impact again." for each in report.unlisted]
    return result(
        [*left_out, *missing],
        repo=str(report.repository),
        period=report.period,
        compared=report.compared,
        downstreams=[
            {
                "name": each.name,
                "sha": each.sha,
                "comparison": comparison(each, report.language),
                "omissions": list(omissions(each, report.language)),
            }
            for each in report.downstreams
        ],
        commits=rows,
        failed=[each.model_dump(mode="json") for each in report.failed],
    )


def _suspects_result(reports: Sequence[SuspectReport]) -> Result:
    found = [
        {"repo": str(report.repository), **suspect_object(each, report.language)}
        for report in reports
        for each in report.suspects
    ]
    rows, left_out = rows_within(found)
    unexplained = [f"{report.repository}: {suspects_summary(report)}" for report in reports if not report.suspects]
    return result([*left_out, *unexplained], searched=sum(each.searched for each in reports), suspects=rows)
