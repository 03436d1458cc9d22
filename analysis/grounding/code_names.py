"""Claims that name code: paths, symbols, flags, and names that are said to be removed, renamed or added."""

import re
from collections.abc import Iterator

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
    WORDS,
)
from analysis.grounding.corpus import SPAN, Corpus, without_code
from analysis.grounding.finders import FoundClaim, Section

_RUN = re.compile(r"[A-Za-z0-9_./*{}<>$…~@,:#+-]+")
_LINES = re.compile(r"(?::(\d+)(?:[-:](\d+))?|#L(\d+)(?:-L?(\d+))?)$")
_FILE = re.compile(
    rf"^(?!\.?\*?\.\w+$).*[\w*}}>\]-]\.(?:{'|'.join(EXTENSIONS)})$|(?:^|/)\*+\.(?:{'|'.join(EXTENSIONS)})$|(?:^|/)Dockerfile\.\w+$",
    re.IGNORECASE,
)
_TWO_FILES = re.compile(rf"(?<=\.)({'|'.join(EXTENSIONS)})/(?=[\w.]+\.|\.)", re.IGNORECASE)


def find_paths(line: str, section: Section, corpus: Corpus) -> Iterator[FoundClaim]:
    code = [match.span() for match in SPAN.finditer(line)]
    for name in corpus.odd_names:
        for match in re.finditer(re.escape(name), line):
            yield FoundClaim(*match.span(), is_supported=True)
        line = line.replace(name, " " * len(name))
    for run in _RUN.finditer(line):
        in_code = any(start <= run.start() < end for start, end in code)
        called = line[run.end() : run.end() + 1] == "("
        for start, token in _path_tokens(run):
            lines = _LINES.search(token)
            path = token[: lines.start()] if lines else token
            named = _names_a_path(path, corpus, in_code=in_code) and not (called and "/" not in path)
            if named and not _is_outside_repository(path, corpus):
                mentioned = path in corpus.changed_text if section is Section.CHANGE else corpus.mentions(path)
                was_read = any(f"/{each.path}".endswith(f"/{path}") for each in corpus.read)
                supported = bool(corpus.matching_paths(path)) or mentioned or was_read
                if supported and lines:
                    first = int(lines[1] or lines[3])
                    last = int(lines[2] or lines[4] or first)
                    supported = corpus.shows_lines(
                        path, first, last if last >= first and ":" not in lines[0][1:] else first
                    )
                yield FoundClaim(start, start + len(token), supported)
            elif named or ("/" in path and corpus.matching_paths(path)):
                yield FoundClaim(start, start + len(token), is_supported=True)


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
        of_class = CLASS_NAME.fullmatch(owner) is not None and extension == "json"  # the method of many a class
        attribute = owner in ("self", "cls") or of_class or (owner in LIBRARIES and extension not in PLAIN_EXTENSIONS)
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


def find_symbols(line: str, section: Section, corpus: Corpus) -> Iterator[FoundClaim]:
    """Find the names of code; those that a diff does not show may be in the changed files as a whole."""
    for match, in_command in _symbols(line):
        shown = in_command or _is_symbol(match, section, corpus)
        # The whole files are read only for a name that nothing else shows: each may be a request.
        supported = shown or (corpus.whole is not None and _is_symbol(match, section, corpus.whole))
        yield FoundClaim(match.start(), match.end(), supported)
    if corpus.entries:
        for match in CLASS_NAME.finditer(without_code(line)):
            if not re.fullmatch(r"[A-Z]+s?", match[0]) and match[0] not in PRODUCTS | WORDS:
                yield FoundClaim(match.start(), match.end(), match[0].lower() in corpus.text_with_files.lower())


def _symbols(line: str) -> Iterator[tuple[re.Match[str], bool]]:
    """Yield the names of a line, and for flags whether they stand in a command of another program."""
    for span in SPAN.finditer(line):
        command = span[0].strip("`").split(" ", 1)[0] in COMMANDS
        for match in _IN_CODE.finditer(line, span.start() + 1, span.end() - 1):
            yield match, command and match[0].startswith("--")
    for match in _IN_PROSE.finditer(without_code(line)):
        yield match, False


def _is_symbol(match: re.Match[str], section: Section, corpus: Corpus) -> bool:
    name = match[0]
    if name.startswith("--"):
        return _has_flag(name, corpus)
    is_repository = name.count("/") == 1 and any(map(corpus.mentions, (name, name.split("/")[1])))
    return is_repository or _has_chain(match, section, corpus)


def _has_flag(flag: str, corpus: Corpus) -> bool:
    name = flag.strip("-").removeprefix("no-")  # what turns a flag off is seldom written down
    return (
        name in ("help", "version")
        or corpus.mentions("--" + name)
        or corpus.has_word(name.replace("-", "_"))
        or corpus.mentions("--" + name.replace("_", "-"))
    )


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
        # The beginning of a name, or, where names may be mentioned, what several of a family share.
        partly = part.endswith("_") or (section is not Section.CHANGE and not called and "_" not in part)
        starts = partly or (last and not called and after in ("*", "{", "<", "$", "…"))
        ends = partly or (place_in_chain == 0 and before in ("*", "}", ">", "…"))
        if strictness and not (
            corpus.is_project(part)
            or corpus.has_word(part, starts=starts, ends=ends)
            or (strictness == "any case" and part.lower() in corpus.words_in_lower_case)
        ):
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
