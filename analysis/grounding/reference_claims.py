"""Claims that refer to something outside the text: identifiers, versions, addresses, people, and commands to run.

Each must stand in the corpus as it is said, or be a customary name, whether or not the statement cites a place.
"""

import re
from collections.abc import Callable, Iterator
from ipaddress import ip_address

from analysis.grounding.allowlist import COMMANDS, CUSTOMARY, LIBRARIES, PRODUCTS, SUBCOMMANDS, WORDS
from analysis.grounding.corpus import SPAN, Corpus
from analysis.grounding.metadata_claims import Found

_KNOWN = WORDS | CUSTOMARY | LIBRARIES | COMMANDS | SUBCOMMANDS

_IDENTIFIER = re.compile(
    r"\b(?:(?:CVE|PYSEC|RUSTSEC|OSV)[-_ ]?\d{4}[-_ ]\d+|CWE[-_ ]?\d+|GHSA(?:-\w{4}){3})\b", re.IGNORECASE | re.ASCII
)
_NUMBERED = "|".join(sorted(map(re.escape, LIBRARIES | PRODUCTS | COMMANDS), key=len, reverse=True))
_VERSION = re.compile(
    rf"""
    (?<![\w.-])v?(?P<long>\d+(?:\.\d+){{2}}(?:\.?(?:dev|post|rc|a|b)\d*)?)(?!\.?\d)
    | (?<![\w.-])v(?P<marked>\d+\.\d+)(?!\.?\d)
    | \b(?:versions?|releases?|CUDA|{_NUMBERED})[ ](?:[<>=~!]=?[ ]?)?v?(?P<named>\d+\.\d+)(?!\.?\d|[ ]?[%×x])
    | (?:版本)[ ]?v?(?P<chinese>\d+\.\d+)(?!\.?\d)
    | (?<=[\w\]][<>=~!]=)[ ]?(?P<pinned>\d+\.\d+)(?!\.?\d)
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+", re.ASCII)
_NUMERIC_HOST = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)", re.ASCII)
_HOST = re.compile(
    r"(?<![\w@/.$-])(?:[a-z0-9][a-z0-9-]+\.)+[a-z]{2,}(?![\w(.-]*[\w(])(?::\d+)?(?:/[^\s，。；）)]*)?", re.ASCII
)
_MENTION = re.compile(r"(?<![\w@/.=-])@(?P<name>[A-Za-z](?:[\w.-]*\w)?)", re.ASCII)
_FLAG = re.compile(r"\s--?[A-Za-z]")
_PROGRAM = re.compile(r"[a-z][\w.+-]*", re.ASCII)
_INSTALLS = re.compile(
    rf"\b(?:{'|'.join(sorted(map(re.escape, COMMANDS)))}) (?:\w+ )?(?:install|add)(?: --?[\w-]+)* (?P<name>[A-Za-z][\w.-]*\w)",
    re.ASCII,
)


def _prose(line: str) -> str:
    """Return a line whose code spans are blank, each character at its place."""
    return SPAN.sub(lambda span: "\0" * len(span[0]), line)


def _find_identifiers(line: str, corpus: Corpus) -> Iterator[Found]:
    for match in _IDENTIFIER.finditer(line):
        written = re.sub(r"[-_ ]", "-", match[0]).casefold()
        yield Found(*match.span(), written in corpus.text_with_files.casefold())


def _find_versions(line: str, corpus: Corpus) -> Iterator[Found]:
    for match in _VERSION.finditer(line):
        version = next(filter(None, match.groups()))
        yield Found(*match.span(match.lastgroup or 0), _has_version(corpus, version))


def _has_version(corpus: Corpus, version: str) -> bool:
    """Return whether a version occurs, perhaps with further digits (2.9 as 2.9.1), without zeros, or joined as in cu128."""
    significant = re.sub(r"(?:\.0)+$", "", version)
    after = r"(?!\d)" if significant == version else r"(?:\.0)*(?!\.?\d)"
    joined = re.escape(version.replace(".", ""))
    return bool(
        re.search(rf"(?<!\d)(?<!\d\.){re.escape(significant)}{after}|[A-Za-z]{joined}(?!\d)", corpus.text_with_files)
    )


def _find_addresses(line: str, corpus: Corpus) -> Iterator[Found]:
    for match in _MAIL.finditer(line):
        yield Found(*match.span(), corpus.mentions(match[0]))
    for match in _NUMERIC_HOST.finditer(line):
        yield Found(*match.span(), _is_of_machine(match[0]) or corpus.mentions(match[0]))
    for match in _HOST.finditer(_prose(line)):
        yield Found(*match.span(), _is_known_chain(match[0], corpus))


def _is_of_machine(address: str) -> bool:
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return parsed.is_loopback or parsed.is_unspecified


def _is_known_chain(name: str, corpus: Corpus) -> bool:
    """Return whether `a.b` occurs, is an attribute of a library, or is put together of names that occur."""
    parts = re.findall(r"[a-z0-9-]+", name)
    return (
        parts[0] in {"self", "cls", *LIBRARIES}
        or corpus.mentions(name)
        or all(part in WORDS or part in corpus.words_in_lower_case for part in parts)
    )


def _find_mentions(line: str, corpus: Corpus) -> Iterator[Found]:
    spans = [span.span() for span in SPAN.finditer(line)]
    for match in _MENTION.finditer(line):
        root = match["name"].partition(".")[0]
        in_code = any(start <= match.start() < end for start, end in spans)
        is_decorator = root in WORDS | LIBRARIES | CUSTOMARY or (in_code and _is_in_files(root, corpus))
        is_author = any(match["name"].casefold() == commit.author.casefold() for commit in corpus.commits)
        yield Found(*match.span(), is_decorator or is_author or f"@{match['name']}" in corpus.text_with_files)


def _is_in_files(name: str, corpus: Corpus) -> bool:
    return corpus.has_word(name) or (corpus.whole is not None and corpus.whole.has_word(name))


def _find_commands(line: str, corpus: Corpus) -> Iterator[Found]:
    for span in SPAN.finditer(line):
        command = span[0].strip("`").removeprefix("$ ").strip()
        if not all(_is_known_word(word, corpus) for word in _words_of(command)):
            yield Found(*span.span(), is_supported=False)
    for match in _INSTALLS.finditer(_prose(line)):
        yield Found(*match.span(), _is_known_word(match["name"], corpus))


def _words_of(command: str) -> Iterator[str]:
    """Yield the words of a command line that name something: of a usual program all, of another one its name.

    Options and placeholders are no such words. Code that is no command line has none.
    """
    program, space, _ = command.partition(" ")
    if not space or not (program in COMMANDS or (_PROGRAM.fullmatch(program) and _FLAG.search(command))):
        return
    filled = re.sub(r"<[^<>]*>|\$\{?\w+\}?|\{[^{}]*\}", " ", command if program in COMMANDS else program)
    for word in re.split(r"[\s|;&<>()\"'=,~!]+", filled):
        if re.search(r"[A-Za-z]", word) and not word.startswith("-"):
            yield word


def _is_known_word(word: str, corpus: Corpus) -> bool:
    if word in _KNOWN or corpus.is_project(word) or corpus.mentions(word) or corpus.matching_paths(word):
        return True
    parts = re.findall(r"[A-Za-z_]\w*", word)
    return "." not in word and all(part in _KNOWN or corpus.has_word(part) for part in parts)


FINDERS: dict[str, Callable[[str, Corpus], Iterator[Found]]] = {
    "identifier": _find_identifiers,
    "address": _find_addresses,
    "mention": _find_mentions,
    "version": _find_versions,
    "command": _find_commands,
}
