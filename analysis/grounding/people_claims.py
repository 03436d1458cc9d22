"""Claims that somebody approved, reviewed, suggested or reported a change: only the author's texts tell who did."""

import re
from collections.abc import Iterator

from analysis.grounding.allowlist import LIBRARIES, PRODUCTS
from analysis.grounding.corpus import Corpus
from analysis.grounding.metadata_claims import Found
from analysis.wordlists import wordlist

_DID = (
    r"(?:approved|reviewed|suggested|proposed|requested|reported|recommended|endorsed|co-?authored|signed[- ]off(?:[- ]on)?|acked|acknowledged|"
    r"merged|blessed|vetted|confirmed|tested)"
)
_NAME = r"(?:@[\w.-]*\w|[A-Z][\w.'’-]*(?:[ ][A-Z][\w.'’-]*){0,3})"
_HANDLE = r"[a-z][\w-]{2,}(?![\w.-]*\()"  # as GitHub's names may be, where only a person can stand
_NAME_ZH = r"(?:[\u4e00-\u9fff]{2,3}?(?=审|批|评|建|提|报|测|合)|@[\w.-]*\w|[A-Z][\w.'’-]*(?:[ ][A-Z][\w.'’-]*){0,3})"
_DID_ZH = r"(?:审核|审查|审阅|评审|批准|建议|提议|提出|报告|测试|合并)"
_CLAIMS = tuple(
    map(
        re.compile,
        (
            rf"\b(?i:{_DID}|approvals?|reviews?|sign-offs?|suggestions?)(?i:[ -]by|[ ]from):?[ ]+(?P<name>{_NAME})",
            rf"\b(?i:approved|reviewed|acked|co-?authored|signed[- ]off)(?i:[ -]by):?[ ]+(?P<name>{_HANDLE})",
            rf"(?P<name>{_NAME})(?:[ ](?:and|or)[ ]{_NAME})?[ ](?:(?:has|have|had|also|already|explicitly)[ ]){{0,2}}{_DID}\b(?![ ]by\b)",
            rf"(?i:reviewer|approver|tester|reporter)s?(?i:[ ](?:is|was|are|were)|:)[ ]+(?P<name>{_NAME})",
            rf"由[ ]?(?P<name>{_NAME_ZH})[ ]?{_DID_ZH}",
            rf"(?P<name>@[\w.-]*\w|[A-Z][\w.'’-]*(?:[ ][A-Z][\w.'’-]*){{0,3}})[ ]?(?:已经?)?{_DID_ZH}了",
        ),
    )
)
# Who is named by what they are or do, and what begins a sentence, is nobody in particular.
_PRODUCTS = frozenset(name.casefold() for name in PRODUCTS | LIBRARIES)
_NOBODY = wordlist("common_words") | wordlist("stopwords") | wordlist("roles")


def find_people(line: str, corpus: Corpus) -> Iterator[Found]:
    """Find who is said to have had a part in a change, against what its author tells."""
    told = corpus.told.casefold()
    for pattern in _CLAIMS:
        for match in pattern.finditer(line):
            name = match["name"].rstrip(".'’-")
            if not _is_nobody(name):
                yield Found(*match.span("name"), name.lstrip("@").casefold() in told)


def _is_nobody(name: str) -> bool:
    """Return whether a name is an abbreviation or a product's, or made of ordinary words."""
    return name.isupper() or name.casefold() in _PRODUCTS or all(word.casefold() in _NOBODY for word in name.split())
