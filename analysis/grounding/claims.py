"""Extraction of claims (paths, symbols, flags, pull requests, SHAs, figures) from a text, checked against a corpus.

For each kind a finder locates the names and marks those that the corpus does not support; these become `Claim`s.
"""

import re
from collections.abc import Callable, Collection, Iterator
from enum import Enum, auto
from typing import NamedTuple

from analysis.grounding.allowlist import (
    COMMANDS,
    CUSTOMARY,
    EXTENSIONS,
    FOLDERS,
    LIBRARIES,
    MACHINE_FOLDERS,
    PLAIN_EXTENSIONS,
    PRODUCTS,
    ROUTES,
    TOP_LEVEL_DOMAINS,
    WORDS,
)
from analysis.grounding.change_claims import find_changes
from analysis.grounding.corpus import MEASURES, NUMBER, SPAN, Corpus, number, plain
from analysis.grounding.metadata_claims import FINDERS as METADATA_FINDERS
from analysis.grounding.metadata_claims import Found
from analysis.grounding.people_claims import find_people
from analysis.grounding.reference_claims import FINDERS as REFERENCE_FINDERS
from analysis.instructions import CHAT_MARKS, INSTRUCTIONS
from analysis.look_alikes import as_read, place_in


class Claim(NamedTuple):
    """A claim that the corpus does not support.

    `kind` is one of path, symbol, pull request, commit, figure, link, heading, image, instruction, denial, author, date,
    rank, revert, identifier, address, mention, version, command, change, person; `text` is as written.
    """

    kind: str
    text: str


class Section(Enum):
    """The purpose of a text, which decides what it may mention."""

    CHANGE = auto()  # what the commit does: only what it touches
    CONSEQUENCE = auto()  # what follows from it: also what its message and diff merely mention
    ADVICE = auto()  # what to do: also durations and sizes that were never measured


def find_unsupported(
    text: str, section: Section, corpus: Corpus, kinds: Collection[str] | None = None
) -> tuple[Claim, ...]:
    """Return the unsupported claims of a sentence or an item, ordered by kind; only those of `kinds` if given."""
    line = plain(text)
    claims = []
    for kind, find in _FINDERS.items():
        found = sorted(find(line, section, corpus))
        if kinds is None or kind in kinds:
            claims += [
                Claim(kind, line[each.start : each.end].strip("`( \n")) for each in found if not each.is_supported
            ]
        if kind not in _LEFT_TO_OTHERS:
            for each in found:
                line = line[: each.start] + " " * (each.end - each.start) + line[each.end :]
    return tuple(dict.fromkeys(claims))


def _finder_of(*patterns: re.Pattern[str], in_code: re.Pattern[str] | None = None) -> "_Finder":
    """Build a finder of what is never allowed: `patterns` match outside code spans, `in_code` anywhere."""

    def find(line: str, _section: Section, _evidence: Corpus) -> Iterator[Found]:
        prose = SPAN.sub(lambda match: "\0" * len(match[0]), line)
        for text, pattern in [*((prose, each) for each in patterns), *([(line, in_code)] if in_code else [])]:
            for match in pattern.finditer(text):
                yield Found(match.start(), match.end(), is_supported=False)

    return find


_INSTRUCTION = re.compile("|".join([*INSTRUCTIONS, *CHAT_MARKS]), re.IGNORECASE | re.ASCII)


def _find_instructions(line: str, _section: Section, _corpus: Corpus) -> Iterator[Found]:
    for match in _INSTRUCTION.finditer(as_read(line)):
        yield Found(place_in(line, match.start()), place_in(line, match.end()), is_supported=False)


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
    | \b(?:mailto|javascript|data):[^\s`，。；]+\w
    | \bwww\.[^\s`，。；）)]+
    | (?<![\w@./-])(?:[a-z0-9-]+\.)+(?:{"|".join(TOP_LEVEL_DOMAINS)})(?::\d+)?/[^\s`'"<>，。；）)]*
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_PULL = re.compile(
    r"(?:(?<![\w/])(?:PRs?|pull request|MR|issue|拉取请求|合并请求)[ ]{0,2}(?:\#[ ]?)?|\bGH-|(?<![&/#])(?<!\b[CF])\#)"
    r"(\d{1,9})(?![\w.]\d|\w|%)",
    re.IGNORECASE | re.ASCII,
)


def _find_pulls(line: str, _section: Section, corpus: Corpus) -> Iterator[Found]:
    for match in _PULL.finditer(line):
        mentioned = rf"(?:#|\b(?:pull|issues|PR)[ /]){match[1]}\b"
        supported = int(match[1]) in corpus.pulls or re.search(mentioned, corpus.text, re.ASCII)
        yield Found(match.start(), match.end(), bool(supported))


_SHA = re.compile(r"(?<![\w#/-])(?<!\w\.)(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])", re.ASCII)


def _find_commits(line: str, _section: Section, corpus: Corpus) -> Iterator[Found]:
    for match in _SHA.finditer(line):
        supported = any(sha.startswith(match[0]) for sha in corpus.shas) or re.search(
            rf"\b{match[0]}", corpus.text, re.ASCII
        )
        yield Found(match.start(), match.end(), bool(supported))


_PERCENT = re.compile(r"百分之[ ]?(\d+(?:\.\d+)?)")
_RANGE = re.compile(r"(?<![A-Za-z0-9_.#])(\d+(?:\.\d+)?)[ ]?(?:[-~～至到]|to)[ ]?$")
_COUNTS = {
    "file": re.compile(
        NUMBER + r"\+?[ ]?(?:(?:个|份|多个|余个)?(?:[\u4e00-\u9fff]{0,4})文件|(?:\w+ )?files?\b)",
        re.ASCII,
    ),
    "line": re.compile(
        r"(?<!第)(?<!第 )"
        + NUMBER
        + r"\+?[ ]?(?:(?:多|余)?行(?![为业动进列程驶])|(?:(?:added|removed|new|changed) )?lines?\b)",
        re.ASCII,
    ),
    "commit": re.compile(NUMBER + r"\+?[ ]?(?:个?提交|commits\b)", re.ASCII),
}
_SIGNED = re.compile(r"(?<![\w+-])\+(\d{1,7})[ ]?[/,，、 ][ ]?-(\d{1,7})(?![\w.])", re.ASCII)


def _find_figures(line: str, section: Section, corpus: Corpus) -> Iterator[Found]:
    for unit, pattern in [*MEASURES.items(), ("%", _PERCENT)]:
        if section is Section.ADVICE and unit not in ("%", "x"):
            continue
        for match in pattern.finditer(line):
            start, numbers = match.start(), [match[1]]
            if before := _RANGE.search(line, 0, match.start()):
                start, numbers = before.start(), [before[1], match[1]]
            yield Found(start, match.end(), all(corpus.has_measurement(each, unit) for each in numbers))
    for noun, pattern in _COUNTS.items():
        for match in pattern.finditer(line):
            yield Found(match.start(), match.end(), corpus.has_count(noun, int(number(match[1]))))
    for match in _SIGNED.finditer(line):
        additions_and_deletions = {size[1:] for size in corpus.sizes}
        yield Found(match.start(), match.end(), (int(match[1]), int(match[2])) in additions_and_deletions)


_RUN = re.compile(r"[A-Za-z0-9_./*{}<>$…~@,:#+-]+")
_LINES = re.compile(r"(?::(\d+)(?:[-:](\d+))?|#L(\d+)(?:-L?(\d+))?)$")
_FILE = re.compile(
    rf"^(?!\.?\*?\.\w+$).*[\w*}}>\]-]\.(?:{'|'.join(EXTENSIONS)})$|(?:^|/)\*+\.(?:{'|'.join(EXTENSIONS)})$|(?:^|/)Dockerfile\.\w+$",
    re.IGNORECASE,
)
_TWO_FILES = re.compile(rf"(?<=\.)({'|'.join(EXTENSIONS)})/(?=[\w.]+\.|\.)", re.IGNORECASE)


def _find_paths(line: str, section: Section, corpus: Corpus) -> Iterator[Found]:
    code = [match.span() for match in SPAN.finditer(line)]
    for name in corpus.odd_names:
        for match in re.finditer(re.escape(name), line):
            yield Found(*match.span(), is_supported=True)
        line = line.replace(name, " " * len(name))
    for run in _RUN.finditer(line):
        in_code = any(start <= run.start() < end for start, end in code)
        called = line[run.end() : run.end() + 1] == "("
        for start, token in _path_tokens(run):
            lines = _LINES.search(token)
            path = token[: lines.start()] if lines else token
            named = _names_a_path(path, corpus, in_code=in_code) and not (called and "/" not in path)
            if named and not _is_outside_repository(path, corpus):
                supported = bool(corpus.matching_paths(path)) or (
                    section is not Section.CHANGE and corpus.mentions(path)
                )
                if supported and lines:
                    first = int(lines[1] or lines[3])
                    last = int(lines[2] or lines[4] or first)
                    supported = corpus.shows_lines(
                        path, first, last if last >= first and ":" not in lines[0][1:] else first
                    )
                yield Found(start, start + len(token), supported)
            elif named or ("/" in path and corpus.matching_paths(path)):
                yield Found(start, start + len(token), is_supported=True)


def _path_tokens(run: re.Match[str]) -> Iterator[tuple[int, str]]:
    """Split a run of characters into possible paths with their positions; lists and pytest node IDs are separated."""
    text = _TWO_FILES.sub(r"\1,", run[0])
    text = re.sub(r"\{[^{}]*\}|<[^<>]*>", lambda match: match[0].replace(",", "\0"), text)
    text = re.sub("::.*|:(?![0-9])|#(?!L[0-9])|(?<!/)\\*\\*(?!/)", lambda match: "," * len(match[0]), text)
    for match in re.finditer(r"[^,]+", text):
        token = match[0].replace("\0", ",")
        bare = token.lstrip(":#+<>-")
        if re.fullmatch(r"\*[^*]+\*", bare):
            bare = bare[1:]
            yield run.start() + match.start() + len(token) - len(bare), bare[:-1]
            continue
        yield run.start() + match.start() + len(token) - len(bare), re.sub(r"[:#+@~.…-]+$", "", bare)


def _names_a_path(path: str, corpus: Corpus, *, in_code: bool) -> bool:
    """Return whether a token is meant as a file or folder of the repository."""
    if not re.search(r"[A-Za-z]{2}", path) or re.match(r"[\w.]+@|@", path):
        return False
    first, *rest = path.strip("./*").split("/")
    if _FILE.search(path.rstrip("/…")):
        owner, _, extension = first.partition(".")
        attribute = owner in ("self", "cls") or (owner in LIBRARIES and extension not in PLAIN_EXTENSIONS)
        return bool(rest) or not (path in PRODUCTS or attribute)
    parts = [part for part in (first, *rest) if part]
    if (
        path.startswith("/")
        or not rest
        or re.search(r"\.\w+$", parts[-1])
        or not all(re.fullmatch(r"[A-Za-z0-9_.*{},<>$…-]+", part) for part in parts)
    ):
        return False
    if (
        first not in (corpus.folders | FOLDERS if in_code else corpus.folders)
        or path.startswith(ROUTES)
        or (not in_code and all(part in FOLDERS for part in parts))
    ):
        return False
    if len(parts) == 2 and not path.endswith("/") and corpus.mentions(path) and f"{path}/" not in corpus.text:  # noqa: PLR2004
        return False  # a name such as owner/repository
    return in_code or len(parts) > 2 or path.endswith("/")  # noqa: PLR2004


def _is_outside_repository(path: str, corpus: Corpus) -> bool:
    """Return whether a path lies outside any repository, such as /etc/hosts."""
    if corpus.matching_paths(path.lstrip("~/")):
        return False
    return path.startswith(("~", "$")) or (path.startswith("/") and path.split("/")[1] in MACHINE_FOLDERS)


_CHAIN = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*"
_IN_CODE = re.compile(rf"(?<![\w-])--[A-Za-z][\w-]*|(?<![A-Za-z0-9_]){_CHAIN}(?:\(|(?:/[\w.-]+)?)", re.ASCII)
CLASS_NAME = re.compile(r"(?<![\w`./-])(?:[A-Z][a-z0-9]+[A-Z]|[A-Z]{2,}[a-z]{2})\w*(?![`\w])", re.ASCII)
_IN_PROSE = re.compile(
    rf"(?<![\w-])--[A-Za-z][\w-]*|(?<![A-Za-z0-9_.]){_CHAIN}\(\)|(?<![A-Za-z0-9_])(?=[0-9_]*[A-Za-z])[A-Za-z0-9]*_[A-Za-z0-9_]*",
    re.ASCII,
)


def _find_symbols(line: str, section: Section, corpus: Corpus) -> Iterator[Found]:
    """Find the names of code; those that a diff does not show may be in the changed files as a whole."""
    for match, in_command in _symbols(line):
        shown = in_command or _is_symbol(match, section, corpus)
        # The whole files are read only for a name that nothing else shows: each may be a request.
        supported = shown or (corpus.whole is not None and _is_symbol(match, section, corpus.whole))
        yield Found(match.start(), match.end(), supported)
    if corpus.entries:
        for match in CLASS_NAME.finditer(SPAN.sub(lambda span: "\0" * len(span[0]), line)):
            if not re.fullmatch(r"[A-Z]+s?", match[0]) and match[0] not in PRODUCTS:
                yield Found(match.start(), match.end(), match[0].lower() in corpus.text_with_files.lower())


def _symbols(line: str) -> Iterator[tuple[re.Match[str], bool]]:
    """Yield the names of a line, and for flags whether they stand in a command of another program."""
    prose = line
    for span in SPAN.finditer(line):
        prose = prose[: span.start()] + "\0" * (span.end() - span.start()) + prose[span.end() :]
        command = span[0].strip("`").split(" ", 1)[0] in COMMANDS
        for match in _IN_CODE.finditer(line, span.start() + 1, span.end() - 1):
            yield match, command and match[0].startswith("--")
    for match in _IN_PROSE.finditer(prose):
        yield match, False


def _is_symbol(match: re.Match[str], section: Section, corpus: Corpus) -> bool:
    if match[0].startswith("--"):
        return _has_flag(match[0], corpus)
    return _is_repository(match[0], corpus) or _has_chain(match, section, corpus)


def _has_flag(flag: str, corpus: Corpus) -> bool:
    name = flag.strip("-")
    return (
        name in ("help", "version")
        or corpus.mentions("--" + name)
        or corpus.has_word(name.replace("-", "_"))
        or corpus.mentions("--" + name.replace("_", "-"))
    )


def _is_repository(token: str, corpus: Corpus) -> bool:
    return token.count("/") == 1 and (corpus.mentions(token) or corpus.mentions(token.split("/")[1]))


def _has_chain(match: re.Match[str], section: Section, corpus: Corpus) -> bool:
    """Return whether every distinctive part of `a.b.c(` occurs; next to a wildcard a partial word is enough."""
    called = match[0].endswith(("(", "()"))
    parts = re.findall(r"[A-Za-z0-9_]+", match[0])
    library = parts[0] in LIBRARIES
    before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    for place_in_chain, part in enumerate(parts):
        last = place_in_chain == len(parts) - 1
        if library and (section is not Section.CHANGE or "_" not in part):
            continue
        strictness = _strictness(part, section, called=called and last, dotted=len(parts) > 1)
        prefix = part.endswith("_")  # a name prefix, which may also occur inside longer names
        starts = prefix or (last and not called and after in ("*", "{", "<", "$", "…"))
        ends = prefix or (place_in_chain == 0 and before in ("*", "}", ">", "…"))
        if strictness and not corpus.is_project(part) and not corpus.has_word(part, starts=starts, ends=ends):
            partly = section is not Section.CHANGE and not called and "_" not in part
            if partly and any(each.startswith(part) or each.endswith(part) for each in corpus.words):
                continue
            if strictness == "any case" and part.lower() in corpus.words_in_lower_case:
                continue
            return False
    return True


def _strictness(part: str, section: Section, *, called: bool, dotted: bool) -> str:
    """Return how strictly a name must occur: "" (not at all), "any case" (one capitalized word) or "exactly"."""
    if part in WORDS or re.fullmatch(
        r"__\w+__|_[A-Za-z]+_|_+|[A-Za-z]_[A-Za-z0-9]|u?int\d+_t|sm_?\d+\w?|(?:fp8|float8)_\w+", part
    ):
        return ""
    if section is not Section.CHANGE and (part in CUSTOMARY or re.match("cuda[A-Z]", part)):
        return ""
    if "_" in part.strip("_") or part.startswith("_") or part.endswith("_") or (called and len(part) > 1):
        return "exactly"
    if part in PRODUCTS or part.isupper() or part.islower():
        return ""
    if re.search(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]", part):
        return "exactly"
    return "any case" if dotted else ""


def _anywhere(find: Callable[[str, Corpus], Iterator[Found]]) -> "_Finder":
    """Build a finder that judges alike in each section."""

    def found(line: str, _section: Section, corpus: Corpus) -> Iterator[Found]:
        return find(line, corpus)

    return found


_LEFT_TO_OTHERS = ("instruction", "change")  # in which others find their names, too
_Finder = Callable[[str, Section, Corpus], Iterator[Found]]
_FINDERS: dict[str, _Finder] = {
    "instruction": _find_instructions,
    "change": _anywhere(find_changes),
    "heading": _finder_of(_HEADING),
    "image": _finder_of(_IMAGE),
    "link": _finder_of(_LINK, in_code=_ADDRESS),
    "pull request": _find_pulls,
    **{kind: _anywhere(find) for kind, find in METADATA_FINDERS.items()},
    "person": _anywhere(find_people),
    "path": _find_paths,
    "commit": _find_commits,
    "figure": _find_figures,
    **{kind: _anywhere(find) for kind, find in REFERENCE_FINDERS.items()},
    "symbol": _find_symbols,
}
