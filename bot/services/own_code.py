"""Answers about the code of those who ask: what breaks it, what may, and where it has the names of a question."""

import re
from collections.abc import Iterator, Sequence

from analysis.citations import to_commit, to_fact
from analysis.impact.surface.model import SurfaceIndex
from analysis.locale import catalogue
from analysis.locale.punctuation import join_items
from analysis.models import Entry, FactKind, Language, Repository, Statement
from analysis.questions.definitions import spelled_in_code
from analysis.questions.files import FileAnswers
from analysis.questions.question import Question
from analysis.writing.by_rules import code
from bot.models.downstream import DownstreamCheck
from bot.services.commit_sources import CommitSources
from bot.services.downstream import answer_from_impacts

_NAMES = 3  # of a question, or of one commit's facts, that are looked for
_SHOWN = 4  # methods or commits
_METHOD = re.compile(r"(?P<owner>\w+)\.(?P<name>[a-z]\w*)\((?P<parameter>\w+)\)")  # of a fact
_LAST_WORD = re.compile(r"(?:[A-Z]?[a-z0-9]+|\w+)$")  # of a class: its role
_GROWN = (FactKind.REQUIRED_PARAMETER, FactKind.ADDED_PARAMETER)


class OwnCode:
    """Answers from the mirrors of downstream repositories; of folders it tells what breaks them, and no more."""

    def __init__(self, sources: CommitSources) -> None:
        self._sources = sources

    def answer(self, check: DownstreamCheck, question: Question, language: Language) -> Iterator[Statement]:
        """Yield what breaks or once broke, what may break, and the lines with the names that are asked about or changed."""
        entries = (*question.entries, *(question.further_commits or ()))
        may_break: list[Statement] = []
        beside: list[Statement] = []
        changed = [fact.name for fact in entries[0].facts if fact.removes] if len(entries) == 1 else []
        names = question.asked.symbols or list(dict.fromkeys(map(spelled_in_code, changed)))
        for downstream, index in zip(check.compared, check.surfaces, strict=True):
            if files := self._files(downstream.repository, downstream.sha, language):
                theirs = self._files(question.repository, "", language)
                may_break += list(_differing(files, theirs, names[:_NAMES], language)) if theirs else []
                may_break += list(_grown(files, index, entries, language))[:_SHOWN]
                beside += files.own(names[:_NAMES], downstream.name)
        if check.then and check.then.commits:
            day = max(each.commit.committed_at for each in entries).date()
            yield Statement(text=catalogue(language)("As it stood on {day}, not in the code of today:", day=day))
            yield from answer_from_impacts(check.then, entries, language)
        yield from answer_from_impacts(
            check, entries, language, may_break, [*beside, *_touching(check, entries, language)]
        )

    def _files(self, repository: Repository | None, sha: str | None, language: Language) -> FileAnswers | None:
        """Return the files of a repository at a commit, or at its head; None without its mirror."""
        bare = repository.model_copy(update={"branch": None}) if repository and sha else repository
        mirror = self._sources.existing_mirror(bare) if bare else None
        return FileAnswers(mirror, mirror.history("", at=sha or "", limit=1)[0], language) if mirror else None


def _differing(own: FileAnswers, theirs: FileAnswers, names: Sequence[str], language: Language) -> Iterator[Statement]:
    """Yield the parameters that upstream's functions take today, and one's own of the same name do not."""
    say = catalogue(language)
    for name in names:
        taken = theirs.parameters(name)
        for line, held in own.parameters(name)[:1] if taken else ():
            if lacking := sorted(frozenset.intersection(*(each for _, each in taken)) - held):
                listed = join_items(map(code, lacking), say)
                text = say("Upstream's {name} takes {parameters}; yours does not.", name=code(name), parameters=listed)
                yield Statement(text=text, citations=(line.place, taken[0][0].place))


def _grown(
    files: FileAnswers, index: SurfaceIndex, entries: Sequence[Entry], language: Language
) -> Iterator[Statement]:
    """Yield the methods that classes define without a parameter that upstream's of the same role newly take: `Worker`, `NPUWorker`."""
    say, told = catalogue(language), set[tuple[str, str]]()
    grown = [
        (entry, fact, _METHOD.fullmatch(fact.name)) for entry in entries for fact in entry.facts if fact.kind in _GROWN
    ]
    for entry, fact, match in grown:
        for own in index.surface.subclasses.values() if match else ():
            if not match or match["name"] not in own.members or _role(own.target[-1]) != _role(match["owner"]):
                continue
            key, defined = (own.target[-1], match[0].partition(".")[2]), files.parameters(match["name"], own.path)
            if key in told or not defined or any(match["parameter"] in names for _, names in defined):
                continue
            told.add(key)
            text = say(
                "{upstream} now takes {parameter}; {own} does not, and fails if it is called alike (not proven).",
                upstream=code(fact.name.partition("(")[0]),
                parameter=code(match["parameter"]),
                own=code(f"{own.target[-1]}.{match['name']}"),
            )
            places = (to_commit(entry.commit), defined[0][0].place, to_fact(entry.commit, fact))
            yield Statement(text=text, citations=places, kind="item")


def _role(name: str) -> str:
    match = _LAST_WORD.search(name)
    return match[0] if match else name


def _touching(check: DownstreamCheck, entries: Sequence[Entry], language: Language) -> list[Statement]:
    """Return the commits that break nothing as far as is proven, but change files from which the code imports."""
    say, touching = catalogue(language), [each for each in entries if each.commit.sha in check.touching]
    best = sorted(touching, key=lambda each: -each.ranked.score)[:_SHOWN]
    titles = join_items([code(each.commit.title) for each in best], say)
    text = say("Changing what you import from: {count}, first {titles}.", count=len(touching), titles=titles)
    return [Statement(text=text, citations=tuple(to_commit(each.commit) for each in best))] if best else []
