"""The claims of a text by families, and which of them a corpus does not support.

A family is a row of `_FAMILIES`: its kind, and the finders that locate its claims and judge each. What one family found is
blank for those after it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from analysis.grounding import code_names, denials, references
from analysis.grounding.allowlist import TOP_LEVEL_DOMAINS
from analysis.grounding.corpus import Corpus, plain
from analysis.grounding.finders import Finder, FoundClaim, Section, finder, never
from analysis.instructions import CHAT_MARKS, INSTRUCTIONS
from analysis.text import as_read, place_in


class Claim(NamedTuple):
    """A claim that the corpus does not support: its kind, a key of `_FAMILIES`, and its text as written."""

    kind: str
    text: str


def find_unsupported(text: str, section: Section, corpus: Corpus) -> tuple[Claim, ...]:
    """Return the unsupported claims of a sentence or an item, ordered by kind."""
    line = plain(text)
    claims = []
    for kind, finders in _FAMILIES.items():
        found = sorted(each for find in finders for each in find(line, section, corpus))
        claims += [Claim(kind, line[each.start : each.end].strip("`( \n")) for each in found if not each.is_supported]
        if kind not in _LEFT_TO_OTHERS:
            for each in found:
                line = line[: each.start] + " " * (each.end - each.start) + line[each.end :]
    return tuple(dict.fromkeys(claims))


# What only we write: addresses, outlines, and words to the reader.
_INSTRUCTION = re.compile("|".join([*INSTRUCTIONS, *CHAT_MARKS]), re.IGNORECASE | re.ASCII)
_HEADING = re.compile(r"^[ \t>*-]*#{1,6}[ \t]+\S.*$", re.MULTILINE)
_IMAGE = re.compile(r"!\[[^\[\]\n]*\](?:\([^)\n]*\)|\[[^\[\]\n]*\])|<(?:img|svg)\b[^>]*>?", re.IGNORECASE)
_LINK = re.compile(
    r"""
    \[[^\[\]\n]*\]\([^)\n]*\)                           # [text](address)
    | \[[^\[\]\n]+\]:[ ]*<?(?:/|\w+:|\S+\.\w+/)\S*      # [name]: address
    | <a\b[^>]*>?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ADDRESS = re.compile(
    rf"""
    \b[a-z][a-z0-9+.-]{{1,20}}://[^\s`'"<>，。；）)]+       # any scheme
    | \b(?:(?:mailto|javascript):|data:\w+/[\w.+-]+[;,])[^\s`，。；]+\w
    | \bwww\.[^\s`，。；）)]+
    | (?<![\w@./-])(?:[a-z0-9-]+\.)+(?:{"|".join(TOP_LEVEL_DOMAINS)})(?::\d+)?/[^\s`'"<>，。；）)]*
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)


def _find_instructions(line: str, _section: Section, _corpus: Corpus) -> Iterator[FoundClaim]:
    for match in _INSTRUCTION.finditer(as_read(line)):
        yield FoundClaim(place_in(line, match.start()), place_in(line, match.end()), is_supported=False)


_LEFT_TO_OTHERS = ("instruction",)  # in which others find their names, too
_FAMILIES: Mapping[str, Sequence[Finder]] = {
    "instruction": [_find_instructions],
    "heading": [finder(_HEADING, prose=True)(never)],
    "image": [finder(_IMAGE, prose=True)(never)],
    "link": [finder(_LINK, prose=True)(never), finder(_ADDRESS)(never)],
    "pull request": [references.find_pulls],
    "denial": [denials.find_denials],
    "path": [code_names.find_paths],
    "commit": [references.find_commits],
    "figure": [references.find_measurements, references.find_counts],
    "identifier": [references.find_identifiers],
    "address": [references.find_addresses, references.find_hosts],
    "mention": [references.find_mentions],
    "version": [references.find_versions],
    "command": [references.find_commands, references.find_installations],
    "symbol": [code_names.find_symbols],
}
