"""Claims about the metadata of commits (authors, dates, ranks, reverts), and denials."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from analysis.grounding.corpus import Corpus
from analysis.grounding.denials import denial
from analysis.models import Commit, Entry, FactKind, Importance

NEGATION = re.compile(
    r"\b(?:not|never|no|nothing|none|without)\b|n['’]t\b|没|未(?!来)|尚无|并无|不是|无", re.IGNORECASE
)
_REVERTED = re.compile(
    r"\b(?:was|were|is|been|got|being|wasn['’]t|isn['’]t)\b(?: \w+){0,3}? reverted\b|\breverted (?:by|in|later|again)\b"
    r"|\bno (?:later |known |stored )?commits? (?:has |have )?revert|被[^，。]{0,14}?(?:回退|撤销|回滚)|(?:已|未|没有?)(?:经)?(?:被)?(?:回退|撤销|回滚)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,，;；。]|\.\s")
_THE_COMMIT = r"(?:this|that|the) (?:commit|change|pull request|PR)"
_TIER = re.compile(
    r"\b(?:ranks|ranked|rated|classified)\s+(?:(?:as|a|of|in|the|very)\s+)*(high|medium|low)\b(?!-(?!importance|priority|tier))"
    rf"|\b(?:(?:rank|tier) (?:of|for) {_THE_COMMIT}|{_THE_COMMIT}['’]s (?:rank|tier)|its rank|importance(?: (?:of|for) {_THE_COMMIT})?)"
    r"(?:\s+(?:is|was|as)|\s*[:=])\s*(?:(?:\w+ly|very)\s+)?(high|medium|low)\b"
    r"|\b(high|medium|low)[- ]importance\b(?! (?:sampling|weights?|scores?|ratios?))"
    r"|\b(high|medium|low)[- ](?:priority|tier) (?:commit|change|pull request|PR)\b"
    r"|重要(?:度|性|程度)(?:为|是|：|:|很|较|非常)?\s*([高中低])|([高中低])重要(?:度|性)"
    r"|(?:排名|评级|等级)(?:为|是|：|:|很|较)\s*([高中低])",
    re.IGNORECASE,
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
_COUNTED = re.compile(
    r"(?<![\d.])(\d{1,4})[ ]?个?[ ]?(high|medium|low|高|中|低)(?:[- ]importance|[- ]priority|重要[度性]?)?的?[ ]?(?:commits?|提交)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:does|do|did)(?: not|n['’]t) (?:touch|mention|contain|include)(?: \w+){0,2}|(?:没有?|未|并未|不)(?:触及|涉及|提到|提及|包含)(?:了|到)?[^`，,。]{0,6})"
    r" ?`([^`\n]+)`",
    re.IGNORECASE,
)
_STILL_THERE = re.compile(
    r"(?: not|n['’]t)(?: been)? (?:removed?|deleted?|dropped|renamed?)\b|\b(?:still|stays?|remains?) (?:accepted|supported|works?|available|valid|exists?|there)\b"
    r"|(?:没有?|未|并未)被?(?:移除|删除|重命名)|仍然?(?:可用|支持|有效|接受|保留|存在)",
    re.IGNORECASE,
)


class Found(NamedTuple):
    """A claim from `start` to `end` of a text; later finders skip it, supported or not."""

    start: int
    end: int
    is_supported: bool


def tier_in(text: str) -> str | None:
    """Return the tier that a text gives as a commit's rank; None without one."""
    match = _TIER.search(text)
    return _tier(match) if match else None


def names_date(text: str) -> bool:
    """Return whether a text names a date."""
    return bool(_DATES.search(text))


def dates_are_true(commit: Commit, text: str) -> bool:
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


def _tier(match: re.Match[str]) -> str:
    named: str = next(filter(None, match.groups())).lower()
    return _TIERS.get(named, named)


def _find_denials(line: str, corpus: Corpus) -> Iterator[Found]:
    """Find what a text says is not there, or still there, against the diff and the facts."""
    for match in _DENIED.finditer(line):
        name = re.compile(rf"(?<![A-Za-z0-9_]){re.escape(match[1])}(?![A-Za-z0-9_])")
        is_there = bool(corpus.matching_paths(match[1])) or bool(name.search(corpus.changed_text))
        yield Found(match.start(), match.end(1), not is_there)
    if still := _STILL_THERE.search(line):
        removed = any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", line) for name in corpus.removed_names)
        yield Found(still.start(), still.end(), not removed)
    # An answer may be about one of several commits, which its citations tell: whoever checks it judges that.
    if not corpus.entries and (denied := denial(line, corpus.facts)):
        yield Found(*denied.span(), is_supported=False)


def _find_authors(line: str, corpus: Corpus) -> Iterator[Found]:
    for match in _BY.finditer(line):
        name = next(group for group in match.groups() if group).rstrip(".")
        yield Found(match.start(), match.end(), name.casefold() in corpus.text.casefold())


def _find_dates(line: str, corpus: Corpus) -> Iterator[Found]:
    if not _HAPPENED.search(line):
        return
    for match in [*_DATES.finditer(line), *_CLOCK.finditer(line)]:
        yield Found(match.start(), match.end(), any(dates_are_true(entry.commit, match[0]) for entry in corpus.entries))


def _find_ranks(line: str, corpus: Corpus) -> Iterator[Found]:
    if not corpus.tiers:
        return
    for match in _TIER.finditer(line):
        yield Found(match.start(), match.end(), _tier(match) in corpus.tiers)
    for match in _COUNTED.finditer(line):
        named = match[2].lower()
        count = corpus.tiers.count(Importance(_TIERS.get(named, named)))
        yield Found(match.start(), match.end(), int(match[1]) == count)


def _find_reverts(line: str, corpus: Corpus) -> Iterator[Found]:
    """Find what a text says of commits being reverted. Of one that is a revert, "reverted" may mean either commit."""
    start = 0
    for clause in _CLAUSE.split(line):
        start = line.index(clause, start)
        if match := _REVERTED.search(clause):
            denied = bool(NEGATION.search(clause[: match.end()]))
            supported = any(_fits_revert(entry, denied=denied) for entry in corpus.entries)
            yield Found(start + match.start(), start + match.end(), supported)


def _fits_revert(entry: Entry, *, denied: bool) -> bool:
    reverts = any(fact.kind is FactKind.REVERT for fact in entry.facts)
    return denied is not bool(entry.links.reverted_by) or (not denied and reverts)


def _with_entries(find: "_Find") -> "_Find":
    """Build a finder of what only a corpus that knows the links of its commits can judge."""

    def found(line: str, corpus: Corpus) -> Iterator[Found]:
        return find(line, corpus) if corpus.entries else iter(())

    return found


_Find = Callable[[str, Corpus], Iterator[Found]]
FINDERS: dict[str, _Find] = {
    "denial": _find_denials,
    "author": _with_entries(_find_authors),
    "date": _with_entries(_find_dates),
    "rank": _find_ranks,
    "revert": _with_entries(_find_reverts),
}
