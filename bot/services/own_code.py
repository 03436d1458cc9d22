"""Answers about the code of those who ask: what breaks it, where it has the names of a question, what else of its uses commits change."""

from collections import Counter
from collections.abc import Iterator, Sequence

from analysis.citations import to_commit, to_fact
from analysis.errors import DigestError
from analysis.impact.surface.model import SurfaceIndex
from analysis.impact.surface.targets import written
from analysis.locale import catalogue
from analysis.models import Citation, Entry, Language, Repository, Statement
from analysis.models.impacts import Downstream
from analysis.questions.files import FileAnswers
from analysis.questions.own_code import grown_methods, uses_changed
from analysis.questions.question import ParsedQuestion
from analysis.writing.by_rules import code
from bot.models.downstream import DownstreamCheck
from bot.services.commit_sources import CommitSources
from bot.services.downstream import answer_from_impacts

_NAMES = 3  # of a question, that are looked for
_SHOWN = 4  # lines, methods or commits
_FEW_LINES = 20  # with a word that is no name of code
_FEW = 3  # commits of which it is told what they change


class OwnCode:
    """Answers from the mirrors of downstream repositories; of folders it tells what breaks them, and no more."""

    def __init__(self, sources: CommitSources) -> None:
        self._sources = sources

    def answer(
        self,
        check: DownstreamCheck,
        asked: ParsedQuestion,
        upstream: Repository,
        entries: Sequence[Entry],
        language: Language,
    ) -> Iterator[Statement]:
        """Yield what breaks, what may, the lines with the names in the question, and what commits change that is used."""
        may_break: list[Statement] = []
        beside: list[Statement] = []
        for downstream, index in zip(check.compared, check.surfaces, strict=True):
            files = self._files(downstream, language)
            if files:
                may_break += self._differing(files, asked, upstream, language)
                may_break += list(_grown(files, index, entries, language))[:_SHOWN]
                beside += files.own(
                    _names(asked, downstream), downstream.name, *([] if asked.symbols else [_FEW_LINES])
                )
            broken = {
                sha for sha, found in check.commits.items() if any(each.downstream == downstream for each in found)
            }
            beside += _used(downstream, index, [each for each in entries if each.commit.sha not in broken], language)
        beside += _touching(check, entries, language)
        if check.then and check.then.commits:
            yield from _once(check.then, entries, language)
        yield from answer_from_impacts(check, entries, language, may_break, beside, asked)

    def _files(self, downstream: Downstream, language: Language) -> FileAnswers | None:
        """Return the files of a downstream repository as it was compared; None without its mirror."""
        repository = downstream.repository
        if repository is None or downstream.sha is None:
            return None
        try:
            mirror = self._sources.existing_mirror(repository.model_copy(update={"branch": None}))
            commits = mirror.history("", at=downstream.sha, limit=1) if mirror else ()
        except DigestError:
            return None
        return FileAnswers(mirror, commits[0], language) if mirror and commits else None

    def _differing(
        self, own: FileAnswers, asked: ParsedQuestion, upstream: Repository, language: Language
    ) -> Iterator[Statement]:
        """Yield the parameters that upstream's functions of the names in a question take today, and one's own do not."""
        mirror = self._sources.existing_mirror(upstream)
        if mirror is None or not asked.symbols:
            return
        say, theirs = catalogue(language), FileAnswers(mirror, mirror.history("", limit=1)[0], language)
        for name in asked.symbols[:_NAMES]:
            taken = theirs.parameters(name)
            usual = Counter(names for _, names in taken).most_common(1)
            for line, names in own.parameters(name)[:1] if usual else ():
                if lacking := sorted(usual[0][0] - names):
                    text = say(
                        "Upstream's {name} takes {parameters}, which the one in {path} does not.",
                        name=code(name),
                        parameters=code(", ".join(lacking)),
                        path=code(line.path),
                    )
                    place = next(each.place for each, held in taken if held == usual[0][0])
                    yield Statement(text=text, citations=(line.place, place))


def _names(asked: ParsedQuestion, downstream: Downstream) -> list[str]:
    """Return the names in a question that may stand in code, or else its telling words."""
    known = {part.lower() for part in downstream.name.replace("/", "-").split("-")} | set(downstream.packages)
    words = [term.text for term in asked.subjects if term.text.isascii()]
    return [each for each in asked.symbols or words if each.lower() not in known][:_NAMES]


def _grown(
    files: FileAnswers, index: SurfaceIndex, entries: Sequence[Entry], language: Language
) -> Iterator[Statement]:
    """Yield the methods that downstream classes define without a parameter that upstream's of their role newly take."""
    say, told = catalogue(language), set[tuple[str, str]]()
    for entry in entries:
        for each in grown_methods(entry, index):
            own = f"{each.own.target[-1]}.{each.name}"
            defined = files.parameters(each.name, each.own.path)
            if (own, each.parameter) in told or not defined or any(each.parameter in names for _, names in defined):
                continue
            told.add((own, each.parameter))
            text = say(
                "{upstream} now takes {parameter}; {own} does not, and fails if it is called alike (not proven).",
                upstream=code(each.fact.name.partition("(")[0]),
                parameter=code(each.parameter),
                own=code(own),
            )
            places = (to_commit(entry.commit), defined[0][0].place, to_fact(entry.commit, each.fact))
            yield Statement(text=text, citations=places, kind="item")


def _used(
    downstream: Downstream, index: SurfaceIndex, entries: Sequence[Entry], language: Language
) -> Iterator[Statement]:
    """Yield which lines use what a few commits (with patches) change, or that none does."""
    say = catalogue(language)
    for entry in entries if len(entries) <= _FEW else ():
        if not any(file.patch for file in entry.commit.files):
            continue
        uses, values = uses_changed(entry.commit, index), {"name": downstream.name, "sha": code(entry.commit.short_sha)}
        if not uses:
            yield Statement(text=say("{name} uses nothing that {sha} changes.", **values))
            continue
        text = say.plural(
            "{count} line of {name} uses what {sha} changes:",
            "{count} lines of {name} use what {sha} changes:",
            len(uses),
            **values,
        )
        yield Statement(text=text)
        for use in uses[:_SHOWN]:
            label = f"{use.path}:{use.line}"
            url = f"{downstream.files_url}/{use.path}#L{use.line}" if downstream.files_url else ""
            text = say("{name}: {evidence}", name=code(written(use.target)), evidence=code(use.code))
            yield Statement(text=text, citations=(Citation(label=label, url=url),), kind="item")


def _touching(check: DownstreamCheck, entries: Sequence[Entry], language: Language) -> list[Statement]:
    """Return the commits that break nothing as far as is proven, but change files from which the code imports."""
    touching = [each for each in entries if each.commit.sha in check.touching]
    if len(entries) <= _FEW or not touching:
        return []
    best = sorted(touching, key=lambda each: -each.ranked.score)[:_SHOWN]
    text = catalogue(language).plural(
        "{count} more changes files that you import from, first {titles}.",
        "{count} more change files that you import from, first {titles}.",
        len(touching),
        titles=", ".join(code(each.commit.title) for each in best),
    )
    return [Statement(text=text, citations=tuple(to_commit(each.commit) for each in best))]


def _once(then: DownstreamCheck, entries: Sequence[Entry], language: Language) -> Iterator[Statement]:
    """Yield what commits broke of the code as it stood then, of which today's has nothing left."""
    day = max(each.commit.committed_at for each in entries).date()
    text = catalogue(language)("As it stood on {day}, yes; what broke is not in the code of today:", day=day)
    yield Statement(text=text)
    yield from answer_from_impacts(then, entries, language)
