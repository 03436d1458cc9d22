"""Claims about people who had a part in a commit."""

import re

from analysis.grounding.allowlist import LIBRARIES, PRODUCTS
from analysis.grounding.corpus import Corpus
from analysis.grounding.finders import finder
from analysis.search.words import is_common
from analysis.wordlists import wordlist

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
