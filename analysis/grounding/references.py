"""Claims that refer to something: pull requests, SHAs, figures, versions, addresses, @names, and commands to run.

Each must stand in the corpus as it is said, or be a customary name, whether or not the statement cites a place.
"""

import re
from collections.abc import Iterator

from analysis.grounding.allowlist import COMMANDS, CUSTOMARY, LIBRARIES, PRODUCTS, SUBCOMMANDS, WORDS
from analysis.grounding.corpus import MEASURES, NUMBER, SPAN, Corpus, number
from analysis.grounding.finders import FoundClaim, Section, finder

_OWN_ADDRESSES = ("127.0.0.1", "0.0.0.0")  # noqa: S104 (named in texts, bound to nowhere)
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


@finder(
    re.compile(
        r"(?:(?<![\w/])(?:PRs?|pull request|MR|issue|拉取请求|合并请求)[ ]{0,2}(?:\#[ ]?)?|\bGH-|(?<![&/#])(?<!\b[CF])\#)"
        r"(\d{1,9})(?![\w.]\d|\w|%)",
        re.IGNORECASE | re.ASCII,
    )
)
def find_pulls(match: re.Match[str], corpus: Corpus) -> bool:
    """Judge the numbers of pull requests and issues."""
    mentioned = rf"(?:#|\b(?:pull|issues|PR)[ /]){match[1]}\b"
    own = any(commit.pr == int(match[1]) for commit in corpus.commits)
    return own or bool(re.search(mentioned, corpus.text, re.ASCII))


@finder(re.compile(r"(?<![\w#/-])(?<!\w\.)(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])", re.ASCII))
def find_commits(match: re.Match[str], corpus: Corpus) -> bool:
    """Judge SHAs and their prefixes."""
    own = any(sha.startswith(match[0]) for commit in corpus.commits for sha in (commit.sha, *commit.parents))
    return own or bool(re.search(rf"\b{match[0]}", corpus.text, re.ASCII))


@finder(
    re.compile(
        r"\b(?:(?:CVE|PYSEC|RUSTSEC|OSV)[-_ ]?\d{4}[-_ ]\d+|CWE[-_ ]?\d+|GHSA(?:-\w{4}){3})\b", re.IGNORECASE | re.ASCII
    )
)
def find_identifiers(match: re.Match[str], corpus: Corpus) -> bool:
    """Judge the identifiers of vulnerabilities."""
    return re.sub(r"[-_ ]", "-", match[0]).casefold() in corpus.text_with_files.casefold()


@finder(_VERSION)
def find_versions(match: re.Match[str], corpus: Corpus) -> bool:
    """Judge versions: one may occur, perhaps with further digits (2.9 as 2.9.1), without zeros, or joined as in cu128."""
    version = match[match.lastgroup or 0]
    significant = re.sub(r"(?:\.0)+$", "", version)
    after = r"(?!\d)" if significant == version else r"(?:\.0)*(?!\.?\d)"
    joined = re.escape(version.replace(".", ""))
    occurs = rf"(?<!\d)(?<!\d\.){re.escape(significant)}{after}|[A-Za-z]{joined}(?!\d)"
    return bool(re.search(occurs, corpus.text_with_files))


@finder(
    re.compile(r"(?<![\w.+-])[\w.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+", re.ASCII),
    re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)", re.ASCII),
)
def find_addresses(match: re.Match[str], corpus: Corpus) -> bool:
    """Judge mail addresses and numeric ones of hosts; those of the machine itself may be named."""
    return match[0] in _OWN_ADDRESSES or corpus.mentions(match[0])


@finder(
    re.compile(
        r"(?<![\w@/.$-])(?:[a-z0-9][a-z0-9-]+\.)+[a-z]{2,}(?![\w(.-]*[\w(])(?::\d+)?(?:/[^\s，。；）)]*)?", re.ASCII
    ),
    prose=True,
)
def find_hosts(match: re.Match[str], corpus: Corpus) -> bool:
    """Judge names of hosts: `a.b` may occur, be an attribute of a library, or be put together of names that occur."""
    parts = re.findall(r"[a-z0-9-]+", match[0])
    return (
        parts[0] in {"self", "cls", *LIBRARIES}
        or corpus.mentions(match[0])
        or all(part in WORDS or part in corpus.words_in_lower_case for part in parts)
    )


@finder(re.compile(r"(?<![\w@/.=-])@([A-Za-z](?:[\w.-]*\w)?)", re.ASCII))
def find_mentions(match: re.Match[str], corpus: Corpus) -> bool:
    """Judge @names: one may occur, be the author's, or be a decorator."""
    root = match[1].partition(".")[0]
    in_code = any(span.start() <= match.start() < span.end() for span in SPAN.finditer(match.string))
    is_decorator = root in WORDS | LIBRARIES | CUSTOMARY or (
        in_code and any(each and each.has_word(root) for each in (corpus, corpus.whole))
    )
    wrote = any(match[1].casefold() == commit.author.casefold() for commit in corpus.commits)
    return is_decorator or wrote or match[0] in corpus.text_with_files


_PERCENT = re.compile(r"百分之[ ]?(\d+(?:\.\d+)?)")
_RANGE = re.compile(r"(?<![A-Za-z0-9_.#])(\d+(?:\.\d+)?)[ ]?(?:[-~～至到]|to)[ ]?$")
_COUNTS = {
    "file": r"(?:(?:个|份|多个|余个)?(?:[\u4e00-\u9fff]{0,4})文件|(?:\w+ )?files?\b)",
    "line": r"(?:(?:多|余)?行(?![为业动进列程驶])|(?:(?:added|removed|new|changed) )?lines?\b)",
    "commit": r"(?:个?提交|commits\b)",
}
_COUNTED = {noun: re.compile(rf"{NUMBER}\+?[ ]?{name}", re.ASCII) for noun, name in _COUNTS.items()}

_ORDINAL = re.compile(r"第[\d、,， 和]*$")  # the numbers of lines in Chinese


def find_measurements(line: str, section: Section, corpus: Corpus) -> Iterator[FoundClaim]:
    """Find shares, factors, times, sizes and rates, and ranges of them; advice may set a time or a size."""
    for unit, pattern in [*MEASURES.items(), ("%", _PERCENT)]:
        if section is Section.ADVICE and unit not in ("%", "x"):
            continue
        for match in pattern.finditer(line):
            start, numbers = match.start(), [match[1]]
            if before := _RANGE.search(line, 0, match.start()):
                start, numbers = before.start(), [before[1], match[1]]
            yield FoundClaim(start, match.end(), all(corpus.has_measurement(each, unit) for each in numbers))


def find_counts(line: str, _section: Section, corpus: Corpus) -> Iterator[FoundClaim]:
    """Find counts of files, lines and commits."""
    for noun, pattern in _COUNTED.items():
        for match in pattern.finditer(line):
            if not _ORDINAL.search(line, 0, match.start()):
                yield FoundClaim(*match.span(), corpus.has_count(noun, int(number(match[1]))))


_KNOWN = WORDS | CUSTOMARY | LIBRARIES | COMMANDS | SUBCOMMANDS
_FLAG = re.compile(r"\s--?[A-Za-z]")
_PROGRAM = re.compile(r"[a-z][\w.+-]*", re.ASCII)


def find_commands(line: str, _section: Section, corpus: Corpus) -> Iterator[FoundClaim]:
    """Find the command lines in code spans that name something unknown."""
    for span in SPAN.finditer(line):
        command = span[0].strip("`").removeprefix("$ ").strip()
        if not all(_is_known_word(word, corpus) for word in _words_of(command)):
            yield FoundClaim(*span.span(), is_supported=False)


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


@finder(
    re.compile(
        rf"\b(?:{'|'.join(sorted(map(re.escape, COMMANDS)))}) (?:\w+ )?(?:install|add)(?: --?[\w-]+)* (?P<name>[A-Za-z][\w.-]*\w)",
        re.ASCII,
    ),
    prose=True,
)
def find_installations(match: re.Match[str], corpus: Corpus) -> bool:
    """Judge the packages that a text says to install."""
    return _is_known_word(match["name"], corpus)
