"""Metadata of a commit that answers questions: author, dates, pull request, links, rank, release and tests.

Each is a record that can be cited like a line of the diff: `[4d95135:author]`.
"""

from collections.abc import Sequence
from datetime import UTC
from typing import NamedTuple

from analysis.citations import sibling_url, to_commit, to_file
from analysis.facts.removed_tests import tests_added
from analysis.locale import Catalogue, catalogue, mark
from analysis.locale.punctuation import as_sentence, join_items, join_sentences
from analysis.models import (
    SHORT_SHA,
    Citation,
    Commit,
    Entry,
    FactKind,
    Importance,
    Language,
    Released,
    ReleaseState,
    Statement,
)
from analysis.paths import Kind, kind
from analysis.questions.kinds import QuestionKind
from analysis.sources.release_tags import tag_of_version
from analysis.text import one_line
from analysis.writing.by_rules import code
from analysis.writing.fact_sentences import FACT_SENTENCES
from analysis.writing.reasons import strongest_reasons

_PATHS = 3  # maximum test paths that are named
NO_TEST = mark("None of the changed files ({files}) is a test.")
_RANKED = {
    Importance.HIGH: mark("Ranked high"),
    Importance.MEDIUM: mark("Ranked medium"),
    Importance.LOW: mark("Ranked low"),
}


class Record(NamedTuple):
    """A known property of a commit: `label` is how a model cites it, `citations` are what people see."""

    kind: QuestionKind
    label: str
    text: str
    citations: tuple[Citation, ...]

    @property
    def statement(self) -> Statement:
        return Statement(text=self.text, citations=self.citations)


def records(entry: Entry, language: Language, versions: Sequence[str] = ()) -> tuple[Record, ...]:
    """Return a commit's metadata, one record a kind; for an unread commit, only what the listing contains.

    Of the `versions` that a question names it is told whether they have the commit.
    """
    commit, say = entry.commit, catalogue(language)
    descriptions = {
        QuestionKind.AUTHOR: (say("Written by {author}.", author=one_line(commit.author)), (to_commit(commit),)),
        QuestionKind.DATE: (_date_sentence(commit, say), (to_commit(commit),)),
        QuestionKind.PULL: _describe_pull(commit, say),
        QuestionKind.LINKS: _describe_links(entry, say),
        QuestionKind.RANK: (_rank_sentence(entry, say), (to_commit(commit),)),
        QuestionKind.RELEASE: (_describe_release(entry.released, versions, say), (to_commit(commit),)),
    }
    if commit.read:
        descriptions[QuestionKind.TESTS] = _describe_tests(entry, say)
    return tuple(
        Record(each, f"{commit.short_sha}:{each}", text, citations) for each, (text, citations) in descriptions.items()
    )


_Description = tuple[str, tuple[Citation, ...]]


def _date_sentence(commit: Commit, say: Catalogue) -> str:
    written, landed = (f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" for at in (commit.authored_at, commit.committed_at))
    if commit.not_on:
        committed = say("Committed on {committed}.", committed=landed)
        return join_sentences([committed, say("It is not on {branch}.", branch=commit.not_on)], say)
    if written == landed:
        return say("Landed on {landed}.", landed=landed)
    return say("Written on {written}, landed on {landed}.", written=written, landed=landed)


def _describe_pull(commit: Commit, say: Catalogue) -> _Description:
    if commit.pr is None:
        return say("No pull request is known."), (to_commit(commit),)
    pull = Citation(label=f"#{commit.pr}", url=sibling_url(commit, f"/pull/{commit.pr}") or commit.url)
    return say("It is pull request #{number}.", number=commit.pr), (pull,)


def _describe_links(entry: Entry, say: Catalogue) -> _Description:
    """Describe the commit's links, first what it reverts or whether it was reverted, with citations of the linked commits."""
    links = entry.links
    relations = [(mark("reverted by {sha}"), links.reverted_by)] if links.reverted_by else []
    relations += [(mark("reverts {sha}"), sha) for sha in links.all_reverted]
    relations += [(mark("fixes {sha}"), sha) for sha in links.fixes]
    relations += [(mark("fixed by {sha}"), sha) for sha in links.fixed_by]
    texts = [_capitalized_sentence(say(relation, sha=code(sha[:SHORT_SHA])), say) for relation, sha in relations]
    # The message may name a revert of a commit that is not in the store.
    reverted = [each for each in entry.facts if each.kind is FactKind.REVERT]
    if not links.all_reverted:
        sentences = FACT_SENTENCES[FactKind.REVERT]
        texts += [as_sentence(sentences.named(code(each.name), 1, say), say) for each in reverted]
    if not links.reverted_by:
        texts.insert(len(texts) if links.all_reverted or reverted else 0, say("No stored commit reverts it."))
    others = [sha for _, sha in relations]
    if links.series:
        series = say("part {part} of a series of {of}", part=links.series.part, of=links.series.of or "N")
        texts.append(_capitalized_sentence(series, say))
        others += [sha for sha in links.series.commits if sha != entry.commit.sha]
    cited = [to_other(entry.commit, sha) for sha in dict.fromkeys(others)]
    return join_sentences(texts, say), tuple(cited) or (to_commit(entry.commit),)


def to_other(commit: Commit, sha: str) -> Citation:
    """Return a citation of another commit of the same repository."""
    return Citation(label=sha[:SHORT_SHA], url=sibling_url(commit, f"/commit/{sha}") or commit.url)


def _capitalized_sentence(text: str, say: Catalogue) -> str:
    return as_sentence(text[0].upper() + text[1:], say)


def _rank_sentence(entry: Entry, say: Catalogue) -> str:
    reasons = [one_line(each) for each in strongest_reasons(entry.ranked, say.language)]
    listed = say(": ") + say("; ").join(reasons) if reasons else ""
    return say(_RANKED[entry.ranked.importance]) + listed + say(".")


def _describe_release(released: Released, versions: Sequence[str], say: Catalogue) -> str:
    """Say whether versions have a commit, and which release had it first; of none if no tag is known."""
    if released.state is ReleaseState.UNKNOWN:
        return say("No release tags of this repository are known.")
    told = [_has_sentence(released, each, say) for each in versions]
    if released.tag and released.date:
        told.append(say("First released in {release} ({day}).", release=code(released.tag), day=released.date.date()))
    else:
        told.append(say("No release has it yet."))
    return join_sentences(told, say)


def _has_sentence(released: Released, version: str, say: Catalogue) -> str:
    if tag := tag_of_version(version, released.having):
        return say("Yes, {release} has it.", release=code(tag))
    if tag := tag_of_version(version, released.lacking):
        return say("No, {release} does not have it.", release=code(tag))
    return say("No release {release} is known.", release=code(version))


def _describe_tests(entry: Entry, say: Catalogue) -> _Description:
    commit = entry.commit
    tests = [file for file in commit.files if kind(file.path) is Kind.TEST]
    added = set(tests_added(commit))
    shown = [file for file in tests if file.path in added or (not added and file.deletions)][:_PATHS]
    if not shown:
        files = say.plural("{count} file", "{count} files", len(commit.files))
        return say(NO_TEST, files=files), (to_commit(commit),)
    paths = join_items([code(file.path) for file in shown], say)
    tests_changed = say("Comes with tests: {paths}" if added else "Only removes tests: {paths}", paths=paths)
    texts = [as_sentence(tests_changed, say)]
    removed = [fact.name for fact in entry.facts if fact.kind is FactKind.TEST_REMOVED]
    if removed:
        names = join_items(map(code, removed[:_PATHS]), say)
        skipped = FACT_SENTENCES[FactKind.TEST_REMOVED].named(names, len(removed), say)
        texts.append(as_sentence(skipped, say))
    return join_sentences(texts, say), tuple(to_file(commit, file) for file in shown)
