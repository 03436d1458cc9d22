"""Claims about the metadata of commits: people who had a part in one, dates, ranks and reverts."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from analysis.grounding.allowlist import LIBRARIES, PRODUCTS
from analysis.grounding.corpus import Corpus
from analysis.grounding.finders import FoundClaim, Section, finder
from analysis.models import Commit, Entry, FactKind, Importance
from analysis.search.words import is_common
from analysis.wordlists import wordlist

NEGATION = re.compile(
    r"\b(?:not|never|no|nothing|none|without)\b|n['’]t\b|没|未(?!来)|尚无|并无|不是|无", re.IGNORECASE
)

_CAPITALIZED = r"[A-Z][\w.'’-]*(?:[ ][A-Z][\w.'’-]*){0,3}"
_DID = (
    r"(?:approved|reviewed|suggested|proposed|requested|reported|recommended|endorsed|co-?authored|signed[- ]off(?:[- ]on)?|acked|acknowledged|"
    r"merged|blessed|vetted|confirmed|tested)"
)
_NAME = rf"(?:@[\w.-]*\w|{_CAPITALIZED})"
_HANDLE = r"[a-z][\w-]{2,}(?![\w.-]*\()"  # as GitHub's names may be, where only a person can stand
_NAME_ZH = rf"(?:[\u4e00-\u9fff]{{2,3}}?(?=审|批|评|建|提|报|测|合)|{_NAME})"
_DID_ZH = r"(?:审核|审查|审阅|评审|批准|建议|提议|提出|报告|测试|合并)"
_PARTS = (
    rf"(?i:\b(?:written|authored|contributed|submitted|committed) by|\bauthor(?: is| was|:))\s+(?P<claim>@?{_CAPITALIZED})",
    r"作者(?:是|：|为(?=\s*[A-Z@]))\s*(?P<claim>[^，。；\s]+(?:[ ][A-Z][\w.'’-]*){0,3})",
    rf"由\s*(?P<claim>{_CAPITALIZED}|[\u4e00-\u9fff]{{2,4}}?)\s*(?:编写|撰写|提交)",
    rf"\b(?i:{_DID}|approvals?|reviews?|sign-offs?|suggestions?)(?i:[ -]by|[ ]from):?[ ]+(?P<claim>{_NAME})",
    rf"\b(?i:approved|reviewed|acked|co-?authored|signed[- ]off)(?i:[ -]by):?[ ]+(?P<claim>{_HANDLE})",
    rf"(?P<claim>{_NAME})(?:[ ](?:and|or)[ ]{_NAME})?[ ](?:(?:has|have|had|also|already|explicitly)[ ]){{0,2}}{_DID}\b(?![ ]by\b)",
    rf"(?i:reviewer|approver|tester|reporter)s?(?i:[ ](?:is|was|are|were)|:)[ ]+(?P<claim>{_NAME})",
    rf"由[ ]?(?P<claim>{_NAME_ZH})[ ]?{_DID_ZH}",
    rf"(?P<claim>{_NAME})[ ]?(?:已经?)?{_DID_ZH}了",
)
# Who is named by what they are or do, and what begins a sentence, is nobody in particular.
_PRODUCTS = frozenset(name.casefold() for name in PRODUCTS | LIBRARIES)
_ROLES = wordlist("roles")


@finder(*map(re.compile, _PARTS))
def find_people(match: re.Match[str], corpus: Corpus) -> bool:
    """Judge who is said to have written, approved, reviewed, suggested or reported a change, by what its author tells."""
    name = match["claim"].rstrip(".'’-")
    return _is_nobody(name) or name.lstrip("@").casefold() in corpus.told.casefold()


def _is_nobody(name: str) -> bool:
    """Return whether a name is an abbreviation or a product's, or made of ordinary words."""
    words = name.casefold().split()
    return name.isupper() or name.casefold() in _PRODUCTS or all(is_common(word) or word in _ROLES for word in words)


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<{}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATE = re.compile(
    r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})|(?:(?P<zy>\d{4})\s*年\s*)?(?P<zm>\d{1,2})\s*月\s*(?P<zd>\d{1,2})\s*日"
    rf"|\b{_MONTH.format('em')}\s+(?P<ed>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<ey>\d{{4}}))?"
    rf"|\b(?P<bd>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH.format('bm')}(?:,?\s+(?P<by>\d{{4}}))?",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"(?<![\d:])(\d{1,2}):(\d{2})(?![\d])")
_HAPPENED = re.compile(r"\b(?:landed|merged|committed|authored|written)\b|合入|合并于|提交于|编写于", re.IGNORECASE)


@finder(_DATE, _CLOCK)
def find_dates(match: re.Match[str], corpus: Corpus) -> bool:
    """Judge when a commit is said to have been written or to have landed, where that is known."""
    if not corpus.entries or not _HAPPENED.search(match.string):
        return True
    return any(_dates_are_true(entry.commit, match[0]) for entry in corpus.entries)


def _dates_are_true(commit: Commit, text: str) -> bool:
    """Return whether each date and time in a text is the commit's, in UTC or local time, or occurs in its message."""
    known = [each for at in (commit.authored_at, commit.committed_at) for each in (at, at.astimezone(UTC))]
    return all(
        match[0] in commit.message or any(_is_date(match, at) for at in known) for match in _DATE.finditer(text)
    ) and all(
        any((at.hour, at.minute) == (int(hour), int(minute)) for at in known) for hour, minute in _CLOCK.findall(text)
    )


def _is_date(match: re.Match[str], at: datetime) -> bool:
    year = match["y"] or match["zy"] or match["ey"] or match["by"]
    name = match["em"] or match["bm"]
    month = _MONTHS.index(name[:3].lower()) + 1 if name else int(match["m"] or match["zm"])
    day = int(match["d"] or match["zd"] or match["ed"] or match["bd"])
    return (at.month, at.day) == (month, day) and (not year or int(year) == at.year)


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


@finder(_TIER)
def find_ranks(match: re.Match[str], corpus: Corpus) -> bool:
    """Judge the rank that a commit is said to have, where it is known."""
    return not corpus.tiers or _tier(match[match.lastindex or 0]) in corpus.tiers


def _tier(name: str) -> Importance:
    return Importance(_TIERS.get(name, name.lower()))


_REVERTED = re.compile(
    r"\b(?:was|were|is|been|got|being|wasn['’]t|isn['’]t)\b(?: \w+){0,3}? reverted\b|\breverted (?:by|in|later|again)\b"
    r"|\bno (?:later |known |stored )?commits? (?:has |have )?revert|被[^，。]{0,14}?(?:回退|撤销|回滚)|(?:已|未|没有?)(?:经)?(?:被)?(?:回退|撤销|回滚)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?:[^,，;；。.]|\.(?!\s))+")


def find_reverts(line: str, _section: Section, corpus: Corpus) -> Iterator[FoundClaim]:
    """Find what a text says of commits being reverted. Of one that is a revert, "reverted" may mean either commit."""
    for clause in _CLAUSE.finditer(line) if corpus.entries else ():
        if match := _REVERTED.search(clause[0]):
            denied = bool(NEGATION.search(clause[0][: match.end()]))
            supported = any(_fits_revert(entry, denied=denied) for entry in corpus.entries)
            yield FoundClaim(clause.start() + match.start(), clause.start() + match.end(), supported)


def _fits_revert(entry: Entry, *, denied: bool) -> bool:
    reverts = any(fact.kind is FactKind.REVERT for fact in entry.facts)
    return denied is not bool(entry.links.reverted_by) or (not denied and reverts)
