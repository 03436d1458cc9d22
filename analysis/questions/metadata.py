"""Metadata of a commit that answers questions: author, dates, pull request, links, rank and tests.

Each is a record that can be cited like a line of the diff: `[4d95135:author]`.
"""

import re
from datetime import UTC, datetime
from typing import NamedTuple

from analysis.citations import sibling_url, to_commit, to_file
from analysis.facts.removed_tests import tests_added
from analysis.locale import Catalogue, catalogue, mark
from analysis.locale.punctuation import as_sentence, join_items, join_sentences
from analysis.models import SHORT_SHA, Citation, Commit, Entry, FactKind, Importance, Language, Statement
from analysis.paths import Kind, kind
from analysis.questions.topics import Topic
from analysis.text import one_line
from analysis.writing.by_rules import code
from analysis.writing.fact_sentences import FACT_SENTENCES
from analysis.writing.reasons import strongest_reasons

_PATHS = 3  # maximum test paths that are named
_RANKED = {
    Importance.HIGH: mark("Ranked high"),
    Importance.MEDIUM: mark("Ranked medium"),
    Importance.LOW: mark("Ranked low"),
}


class Record(NamedTuple):
    """A known property of a commit: `label` is how a model cites it, `citations` are what people see."""

    topic: Topic
    label: str
    text: str
    citations: tuple[Citation, ...]

    @property
    def statement(self) -> Statement:
        return Statement(text=self.text, citations=self.citations)


def records(entry: Entry, language: Language) -> tuple[Record, ...]:
    """Return a commit's metadata, one record per topic; for an unread commit, only what the listing contains."""
    commit, say = entry.commit, catalogue(language)
    descriptions = {
        Topic.AUTHOR: (say("Written by {author}.", author=one_line(commit.author)), (to_commit(commit),)),
        Topic.DATE: (_date_sentence(commit, say), (to_commit(commit),)),
        Topic.PULL: _describe_pull(commit, say),
        Topic.LINKS: _describe_links(entry, say),
        Topic.RANK: (_rank_sentence(entry, say), (to_commit(commit),)),
    }
    if commit.read:
        descriptions[Topic.TESTS] = _describe_tests(entry, say)
    return tuple(
        Record(topic, f"{commit.short_sha}:{topic}", text, citations)
        for topic, (text, citations) in descriptions.items()
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
    """Describe the commit's links, first whether it was reverted, with citations of the linked commits."""
    links = entry.links
    relations = [(mark("reverted by {sha}"), links.reverted_by)] if links.reverted_by else []
    relations += [(mark("reverts {sha}"), sha) for sha in links.all_reverted]
    relations += [(mark("fixes {sha}"), sha) for sha in links.fixes]
    relations += [(mark("fixed by {sha}"), sha) for sha in links.fixed_by]
    texts = [] if links.reverted_by else [say("No commit that was read reverts it.")]
    texts += [_capitalized_sentence(say(relation, sha=code(sha[:SHORT_SHA])), say) for relation, sha in relations]
    if not links.all_reverted:  # the message may name a revert of a commit that is not in the store
        named = [code(each.name) for each in entry.facts if each.kind is FactKind.REVERT]
        texts += [as_sentence(say(FACT_SENTENCES[FactKind.REVERT].change, names=each), say) for each in named]
    others = [sha for _, sha in relations]
    if links.series:
        series = say("part {part} of {of} of a series", part=links.series.part, of=links.series.of or "N")
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


def _describe_tests(entry: Entry, say: Catalogue) -> _Description:
    commit = entry.commit
    tests = [file for file in commit.files if kind(file.path) is Kind.TEST]
    added = set(tests_added(commit))
    shown = [file for file in tests if file.path in added or (not added and file.deletions)][:_PATHS]
    if not shown:
        files = say.plural("{count} file", "{count} files", len(commit.files))
        return say("No test is among the changed files ({files}).", files=files), (to_commit(commit),)
    paths = join_items([code(file.path) for file in shown], say)
    tests_changed = say("Comes with tests: {paths}" if added else "Only takes tests away: {paths}", paths=paths)
    texts = [as_sentence(tests_changed, say)]
    removed = [fact.name for fact in entry.facts if fact.kind is FactKind.TEST_REMOVED]
    if removed:
        names = join_items(map(code, removed[:_PATHS]), say)
        texts.append(as_sentence(say(FACT_SENTENCES[FactKind.TEST_REMOVED].change, names=names), say))
    return join_sentences(texts, say), tuple(to_file(commit, file) for file in shown)


_NOT = re.compile(r"\b(?:not|never|no|nothing|none|without)\b|n['’]t\b|没|未(?!来)|尚无|并无|不是|无", re.IGNORECASE)
_REVERTED = re.compile(
    r"\b(?:was|were|is|been|got|being|wasn['’]t|isn['’]t)\b(?: \w+){0,3}? reverted\b|\breverted (?:by|in|later|again)\b"
    r"|\bno (?:later |known |stored )?commits? (?:has |have )?revert|被[^，。]{0,14}?(?:回退|撤销|回滚)|(?:已|未|没有?)(?:经)?(?:被)?(?:回退|撤销|回滚)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,，;；。]|\.\s")
_LINKED = re.compile(r"revert|fix|follow|series|part|回退|回滚|撤销|修复|系列|后续", re.IGNORECASE)
_TIER = re.compile(
    r"\branked\s+(?:as\s+)?(?:a\s+)?(high|medium|low)\b|重要(?:度|性|程度)?(?:为|是|：|:)?\s*([高中低])", re.IGNORECASE
)
_TIERS = {"高": "high", "中": "medium", "低": "low"}
_BY = re.compile(
    r"(?i:\b(?:written|authored|contributed|submitted|committed) by)\s+(?P<by>[A-Z@][\w.'’@-]*(?:[ ][A-Z][\w.'’-]*){0,3})"
    r"|(?i:\bauthor(?: is| was|:))\s+(?P<is>[A-Z@][\w.'’@-]*(?:[ ][A-Z][\w.'’-]*){0,3})"
    r"|作者(?:是|为|：)\s*(?P<zh>[^，。；\s]+(?:[ ][A-Z][\w.'’-]*){0,3})"
    r"|由\s*(?P<of>[A-Z][\w.'’-]*(?:[ ][A-Z][\w.'’-]*){0,3}|[\u4e00-\u9fff]{2,4}?)\s*(?:编写|撰写|提交)"
)
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTH = rf"(?P<{{}}>{'|'.join(f'{each[:3]}(?:{each[3:]})?' for each in _MONTHS)})\.?"
_DATES = re.compile(
    rf"(?P<y>\d{{4}})-(?P<m>\d{{1,2}})-(?P<d>\d{{1,2}})|(?:(?P<zy>\d{{4}})\s*年\s*)?(?P<zm>\d{{1,2}})\s*月\s*(?P<zd>\d{{1,2}})\s*日"
    rf"|\b{_MONTH.format('em')}\s+(?P<ed>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<ey>\d{{4}}))?"
    rf"|\b(?P<bd>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH.format('bm')}(?:,?\s+(?P<by>\d{{4}}))?",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"(?<![\d:])(\d{1,2}):(\d{2})(?![\d])")
_HAPPENED = re.compile(r"\b(?:landed|merged|committed|authored|written)\b|合入|合并于|提交于|编写于", re.IGNORECASE)


def supports(record: Record, entry: Entry, text: str) -> bool:
    """Return whether a statement that cites a record agrees with it."""
    commit = entry.commit
    match record.topic:
        case Topic.AUTHOR:
            return commit.author.casefold() in text.casefold()
        case Topic.DATE:
            return bool(_DATES.search(text)) and _dates_are_true(commit, text)
        case Topic.PULL:
            return bool(re.search(rf"#?\b{commit.pr}\b", text)) if commit.pr else bool(_NOT.search(text))
        case Topic.LINKS:
            return bool(_LINKED.search(text))
        case Topic.RANK:
            return _tier_in(text) == entry.ranked.importance or record.text.rstrip(".。") in text
        case Topic.TESTS:
            return bool(_NOT.search(text)) is not bool(tests_added(commit))


def contradicts(entry: Entry, text: str) -> bool:
    """Return whether a statement contradicts a commit's metadata, whatever it cites."""
    tier = _tier_in(text)
    if _misjudges_revert(entry, text) or (tier and tier != entry.ranked.importance):
        return True
    return bool(_HAPPENED.search(text)) and not _dates_are_true(entry.commit, text)


def _misjudges_revert(entry: Entry, text: str) -> bool:
    """Return whether a text is wrong about the commit being reverted.

    Of a commit that is a revert, "reverted" may mean either commit.
    """
    for clause in _CLAUSE.split(text):
        if match := _REVERTED.search(clause):
            denied = bool(_NOT.search(clause[: match.end()]))
            reverts = any(fact.kind is FactKind.REVERT for fact in entry.facts)
            if denied is bool(entry.links.reverted_by) and (denied or not reverts):
                return True
    return False


def authors_in(text: str) -> list[str]:
    """Return the names that a statement gives as an author."""
    return [next(name for name in match.groups() if name).rstrip(".") for match in _BY.finditer(text)]


def _tier_in(text: str) -> str | None:
    match = _TIER.search(text)
    return _TIERS.get(match[2]) or match[1].lower() if match else None


def _dates_are_true(commit: Commit, text: str) -> bool:
    """Return whether each date and time in a text is the commit's, in UTC or local time, or occurs in its message."""
    known = [each for at in (commit.authored_at, commit.committed_at) for each in (at, at.astimezone(UTC))]
    return all(
        match[0] in commit.message or any(_matches_date(match, at) for at in known) for match in _DATES.finditer(text)
    ) and all(
        any((at.hour, at.minute) == (int(hour), int(minute)) for at in known) for hour, minute in _CLOCK.findall(text)
    )


def _matches_date(match: re.Match[str], at: datetime) -> bool:
    year = match["y"] or match["zy"] or match["ey"] or match["by"]
    name = match["em"] or match["bm"]
    month = (
        next(index for index, each in enumerate(_MONTHS, 1) if each.startswith(name[:3].lower()))
        if name
        else int(match["m"] or match["zm"])
    )
    day = int(match["d"] or match["zd"] or match["ed"] or match["bd"])
    return (at.month, at.day) == (month, day) and (not year or int(year) == at.year)
