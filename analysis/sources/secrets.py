"""Redaction of secrets in text before anything else reads it.

Two scanners run, since each misses what the other finds: Kingfisher (a native engine with one rule per vendor) and
detect-secrets' pattern detectors with its keyword detector for `API_KEY=...`. A secret becomes `[REDACTED:1]`, with the
same number throughout one commit: `API_KEY=K` in one file reveals the meaning of `connect("K")` in another.
Placeholders keep the number of lines, so that hunks stay intact.
"""

import importlib
import math
import pkgutil
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from analysis.models import Commit, Fact, FileChange, Proof
from analysis.models.impacts import Impact, UpstreamPlace

if TYPE_CHECKING:
    from detect_secrets.plugins.base import RegexBasedDetector
    from kingfisher_sdk.core import Finding
    from kingfisher_sdk.scanner import Scanner

_PRIVATE_KEY = re.compile(
    r"(-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)(.*?)(-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
# What is written before a secret, as patterns for texts in lower case: those that ignore case are several times slower.
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_NAME = r"""(?P<name>
    (?:(?:api|auth|access|private|secret|signing|encryption)[_-]?key|client[_-]?secret|secret|passw(?:or)?d|passphrase|pass(?<![a-z]pass)|pwd(?<![a-z]pwd)|token|密码|口令|密钥)
    (?:[_-]?\d{1,3}|[_-][a-z]{1,10}){0,2})(?![\w-])"""  # with a suffix such as `_PROD` or `2`
_QUOTE = r"""\\{0,3}["'`]?"""  # also within a string
_VALUE = r"""(?:[a-z$]{0,2}\\{0,3}["'`])? (?P<value>(?:[^\s"'`,;，。；<]|<(?!/)){8,})(?<!\\)"""
# A name with its value: assigned, as the next field of an entry (`name: PASSWORD`, `value: ...`), or as an element of XML.
_ASSIGNED = re.compile(
    rf"""(?x){_NAME} (?:{_QUOTE}\]?{_QUOTE} \s*(?:[:?+]?=>?|[:：＝])\s* | {_QUOTE},?[\s+-]+{_QUOTE}value{_QUOTE}\s*[:=]\s* | >) {_VALUE}"""
)
# A name with its value behind a space: an option, or what a command or a Dockerfile sets.
_GIVEN = re.compile(rf"""(?x)(?:--(?<!---)|env[ \t]+|arg[ \t]+|set[ \t]+)[\w./:-]{{0,40}}?{_NAME}[ \t]+{_VALUE}""")
# Credentials by their syntax alone: a header, an entry of `.netrc`, a login of Docker, and a password in a URL that has an `@`.
# A diff's sign may stand between two words.
_CREDENTIALS = re.compile(
    rf"""(?x) (?:authorization{_QUOTE}\]?\s*[:=,：]\s*{_QUOTE}(?:basic|bearer|token)(?:\s|%20)+(?P<header>[\w+/.~-]{{12,}}=*)
    | (?:machine|login|account)\s+(?:[-+]\s+)?\S+\s+(?:[-+]\s+)?password\s+["']?(?P<netrc>[^\s"'`,;]{{8,}})
    | password\s+["']?(?P<netrc_first>[^\s"'`,;]{{8,}})["']?\s+(?:[-+]\s+)?(?:login|account)\s
    | "auth\\{{0,3}}"\s*:\s*\\{{0,3}}"(?P<docker>[a-z0-9+/]{{12,}}={{0,2}})\\{{0,3}}"
    | ://[^\s:/@]*:(?P<url>[^\s/@"'`]+@[^\s/"'`]*)@(?=[\w.\[-]))"""
)
# Tokens that are certain by their form, inside other words too: their prefix with that many characters is in no name.
_VENDOR_TOKENS = re.compile(r"hf_[A-Za-z0-9]{34}|sk-ant-[a-z]+\d\d-(?:[\w-]{93}AA|[\w-]{80,})|AIza[\w-]{35}", re.ASCII)
_PUNCTUATION = re.compile(r"[^\sA-Za-z0-9_-]")
# Detectors that try every word of a text, and the characters of the shortest run that they match.
_SHORTEST_RUNS = {"CloudantDetector": 24, "IbmCloudIamDetector": 44, "IbmCosHmacDetector": 48, "SoftlayerDetector": 64}
_RUN = re.compile(r"(?<![\w-])[\w-]{24,}")
_NOT_RANDOM = re.compile(
    r"[A-Za-z_][A-Za-z_.]*(\(.*)?|[\w.]+\[.*|[a-z0-9]+([_./-][a-z0-9]+)+|\$\{?\w+\}?.*|<.*>|https?://.*|/[a-z]{2,}/.*|\[REDACTED:\d+\].*"
)
_MIN_ENTROPY = 3.0  # bits per character; words and paths used as values stay below it
_MIN_DIGITS = 3
_SHORT = 12  # below it only a password may be assigned
_PASSWORD_NAME = re.compile(r"(?i)pass|pwd|密码|口令")
_CODE = re.compile(r"[(){}\[\]<>$]")
_LONG = 16
_TOKEN = re.compile(r"[\w-]+")
_BEFORE = re.compile(r"[\s:=\"]*(?:AccountKey=)?")  # prefix that detect-secrets includes in front of some tokens
_BARE = re.compile(r"[^\\<>&(){}|\]]+")  # the value without code, markup or a query after it
_REDACTED = "[REDACTED:"

_KEY_END = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
# What a diff writes before a line; git repeats an earlier line of the file, such as one of a key, behind a hunk's header.
_DIFF_PREFIX = r"(?:@@ [^@\n]+ @@ ?|[-+ ])?"
# A line of a private key, after a diff's prefix and inside quotes or a comment; one of less than this width may be a word.
_KEY_LINE = re.compile(_DIFF_PREFIX + r"""[\s"'#*]*(=?[A-Za-z0-9+/]+={0,2})(?:\\n)?[\s"',\\)]*""")
_KEY_WIDTH = 32
_NO_NEWLINE = "\\ No newline at end of file"
_KEY_FILE = re.compile(r"(?i)\.(?:pem|key|p8|ppk)$|(?:^|/)id_(?:rsa|dsa|ecdsa|ed25519)$")
_BETWEEN_WORDS = re.compile(r"[\s_./:,-]+")
_CHARACTER_KINDS = re.compile(r"[a-z]+|[A-Z]+|\d+|[^a-zA-Z\d]+")
_SHORTEST_PASSWORD = 8
_LEAST_ALTERNATIONS = 4  # runs of one kind of character: `Tr0ub4dor` has six, `password123` two
_LONGEST_NAME = 23  # letters in CamelCase
_MIN_PASSWORD_ENTROPY = 2.5  # bits per character


class _Detectors(NamedTuple):
    native: "Scanner"
    patterns: "tuple[RegexBasedDetector, ...]"


class _Place(NamedTuple):
    """A secret in a text, from the offset `start` up to, but not including, `end`."""

    start: int
    end: int
    secret: str


class _Scanned(NamedTuple):
    """A text with its private keys blanked, and the other secrets found in it."""

    text: str
    places: tuple[_Place, ...]


def redacted(commit: Commit) -> Commit:
    """Redact the commit's message, author's name, file names, patches and pull request.

    A secret found in one of these is redacted in all of them.
    """
    pull = commit.pull
    names = [name for file in commit.files for name in (file.path, file.previous_path) if name]
    patches = [file.patch for file in commit.files if file.patch]
    keys = [file.patch for file in commit.files if file.patch and _KEY_FILE.search(file.path)]
    texts = [commit.message, commit.author, *patches, *((pull.title, pull.body) if pull else ())]
    redact = Redactor(texts, file_names=names, keys=keys)
    return commit.model_copy(
        update={
            "message": redact(commit.message),
            "author": redact(commit.author),
            "files": tuple(_redacted_file(file, redact) for file in commit.files),
            "pull": pull and pull.model_copy(update={"title": redact(pull.title), "body": redact(pull.body)}),
        }
    )


def redacted_facts(found: Sequence[Fact]) -> tuple[Fact, ...]:
    """Redact secrets in what facts quote from whole files, which were not scanned when they were read."""
    quoted = [_quotation(fact) for fact in found if fact.proof is Proof.FILES]
    if not quoted:
        return tuple(found)
    redact = Redactor(quoted)
    return tuple(_redacted_fact(fact, redact) if fact.proof is Proof.FILES else fact for fact in found)


def redacted_impacts(found: Sequence[Impact]) -> tuple[Impact, ...]:
    """Redact secrets in what impacts quote of the upstream code, which was not scanned when it was read."""
    quoted = {text for each in found for text in (each.upstream.before, each.upstream.after) if text}
    redact = Redactor(sorted(quoted))

    def redacted_place(place: UpstreamPlace) -> UpstreamPlace:
        values = {"before": place.before, "after": place.after}
        return place.model_copy(update={name: text and redact(text) for name, text in values.items()})

    if all(redact(text) == text for text in quoted):
        return tuple(found)
    return tuple(each.model_copy(update={"upstream": redacted_place(each.upstream)}) for each in found)


def _quotation(fact: Fact) -> str:
    """Return a fact as assignments, in which the scanners recognise the value of a password."""
    return "\n".join(f"{fact.name} = {value}" for value in (fact.old, fact.new) if value) or fact.name


def _redacted_fact(fact: Fact, redact: "Redactor") -> Fact:
    quotation = _quotation(fact)
    if redact(quotation) == quotation:
        return fact
    values = {name: redact(value) if value else None for name, value in (("old", fact.old), ("new", fact.new))}
    return fact.model_copy(update=values)


def _redacted_file(file: FileChange, redact: "Redactor") -> FileChange:
    return file.model_copy(
        update={
            "path": redact(file.path),
            "previous_path": file.previous_path and redact(file.previous_path),
            "patch": file.patch and redact(file.patch),
        }
    )


class Redactor:
    """Redacts secrets in texts that belong together, such as those of one commit, numbering them in order.

    A secret found in one text is redacted in all of them, unless it could be an ordinary word. The `keys` are patches of
    files that hold keys: their hunks may show the middle of a key, without its marks.
    """

    def __init__(self, texts: Iterable[str] = (), *, file_names: Iterable[str] = (), keys: Iterable[str] = ()) -> None:
        self._numbers: dict[str, int] = {}
        self._scanned: dict[str, _Scanned] = {}
        self._recurring: dict[str, str] = {}  # each recurring string -> the secret that it belongs to
        for name in file_names:
            self._scan(name)
        for text in keys:
            self._remember_key(_key_lines(text))
        for text in texts:
            self._scan(text)

    def __call__(self, text: str) -> str:
        """Replace every known or newly found secret in `text` by its placeholder."""
        if not text:
            return text
        scanned = self._scan(text)
        pieces, end = [], 0
        for place in _merged([*scanned.places, *self._recurrences(scanned.text)]):
            pieces += [scanned.text[end : place.start], self._in_place(scanned.text[place.start : place.end], place)]
            end = place.end
        return "".join([*pieces, scanned.text[end:]])

    def _scan(self, text: str) -> _Scanned:
        """Scan a text for secrets, once."""
        if text not in self._scanned:
            blanked = self._without_keys(text)
            self._scanned[text] = _Scanned(blanked, self._learn(blanked, _places(blanked)))
        return self._scanned[text]

    def _learn(self, text: str, places: Iterable[_Place]) -> tuple[_Place, ...]:
        """Remember the secrets at these places of a text, so that they are found in other texts."""
        found = tuple(places)
        for each in found:
            values = {each.secret, text[each.start : each.end]}
            self._recurring |= {value: each.secret for value in values if _is_unmistakable(value)}
        return found

    def _recurrences(self, text: str) -> Iterator[_Place]:
        """Yield where a text repeats a known secret."""
        for value, secret in self._recurring.items():
            start = text.find(value)
            while start >= 0:
                end = start + len(value)
                yield _Place(start, end, secret)
                start = text.find(value, end)

    def _placeholder(self, secret: str) -> str:
        return f"{_REDACTED}{self._numbers.setdefault(secret, len(self._numbers) + 1)}]"

    def _in_place(self, covered: str, place: _Place) -> str:
        """Return the placeholder for each covered line, after the diff's sign."""
        placeholder = self._placeholder(place.secret)
        signs = [line[:1] if line[:1] in ("+", "-", " ") else "" for line in covered.split("\n")[1:]]
        return "\n".join([placeholder, *(sign + placeholder for sign in signs)])

    def _without_keys(self, text: str) -> str:
        """Blank the private keys of a text: between the marks of each, and the lines of a key beside an END mark.

        A hunk may show a key without its BEGIN mark; and where a diff replaces a key, the removed one's END mark stands
        between the BEGIN mark that both have and the new key.
        """
        blanked = _PRIVATE_KEY.sub(self._key_block, text)
        if not _KEY_END.search(blanked):
            return blanked
        lines = blanked.split("\n")
        keys: dict[int, tuple[re.Match[str], str]] = {}
        for mark in [number for number, line in enumerate(lines) if _KEY_END.search(line)]:
            beside = _key_lines_beside(lines, mark)
            pieces = [match[1] for match in beside.values()]
            self._remember_key(pieces)
            secret = "".join(pieces)
            keys |= {number: (match, secret) for number, match in beside.items()}
        for number, (match, secret) in sorted(keys.items()):
            lines[number] = match.string[: match.start(1)] + self._placeholder(secret) + match.string[match.end(1) :]
        return "\n".join(lines)

    def _remember_key(self, pieces: Sequence[str]) -> None:
        """Remember the lines of a private key, so that they are found in other texts."""
        secret = "".join(pieces)
        self._recurring |= {piece: secret for piece in pieces if _is_unmistakable(piece)}

    def _key_block(self, match: re.Match[str]) -> str:
        """Blank each line of a private key, except for the diff's sign."""
        begin, body, end = match.groups()
        pieces = _key_lines(body)
        secret = "".join(pieces) or body.strip() or begin
        self._remember_key(pieces)
        placeholder = self._placeholder(secret)
        lines = body.split("\n")
        blanked = [lines[0] and placeholder] + [_diff_prefix(line) + placeholder for line in lines[1:]]
        if not end.strip():
            return begin + "\n".join(blanked)
        # The last line is what precedes the END marker: a diff's sign, or nothing.
        blanked[-1] = lines[-1][:1] if len(lines) > 1 else blanked[-1]
        return begin + "\n".join(blanked) + end


def _diff_prefix(line: str) -> str:
    match = re.match(_DIFF_PREFIX, line)
    return match[0] if match else ""


def _key_lines(body: str) -> list[str]:
    """Return the lines of a private key's body, in a block or in a string with escaped line breaks."""
    found = (_KEY_LINE.fullmatch(line) for line in re.split(r"\n|\\n", body))
    return [match[1] for match in found if match and len(match[1]) >= _KEY_WIDTH]


def _key_lines_beside(lines: Sequence[str], mark: int) -> dict[int, re.Match[str]]:
    """Return the lines of private keys directly around an END mark, by their numbers; group 1 of each is what is secret.

    The last line of a key may be short, as words are: lines count up to the one of full width that is farthest away.
    """
    found: dict[int, re.Match[str]] = {}
    for side in (range(mark - 1, -1, -1), range(mark + 1, len(lines))):
        shorter: dict[int, re.Match[str]] = {}
        for number in side:
            match = _KEY_LINE.fullmatch(lines[number])
            if not match and lines[number] != _NO_NEWLINE:
                break
            if match:
                shorter[number] = match
            if match and len(match[1]) >= _KEY_WIDTH:
                found |= shorter
                shorter.clear()
    return dict(sorted(found.items()))


def _merged(places: Iterable[_Place]) -> Iterator[_Place]:
    """Yield the places in order, overlapping ones merged under the first, or the longest, secret."""
    last: _Place | None = None
    for place in sorted(places, key=lambda each: (each.start, -each.end)):
        if last and place.start < last.end:
            last = last._replace(end=max(last.end, place.end))
            continue
        if last:
            yield last
        last = place
    if last:
        yield last


def _places(text: str) -> Iterator[_Place]:
    """Yield the secrets in a text, each with the value by which it is recognized elsewhere."""
    for start, end in _found(text):
        value = text[start:end]
        if not value or _REDACTED in value:
            continue
        bare = _BARE.match(value)
        known = bare[0].rstrip(".:!?*") if bare else ""
        yield _Place(start, end, known if _is_unmistakable(known) else value)


def _found(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each match of the scanners."""
    detectors = _detectors()
    longest = max(map(len, _RUN.findall(text)), default=0)
    # Many of Kingfisher's rules want a space or a quote behind a token, where prose and code have any sign.
    for scanned in (text, _PUNCTUATION.sub(" ", text)) if longest else (text,):
        for finding in detectors.native.scan(scanned):
            if finding.visible and not finding.is_base64_encoded:
                yield from _located(finding, scanned)
    for match in _VENDOR_TOKENS.finditer(text):
        yield match.span()
    for detector in detectors.patterns:
        if longest < _SHORTEST_RUNS.get(type(detector).__name__, 0):
            continue
        for pattern in detector.denylist:
            for match in pattern.finditer(text):
                yield _captured(text, match)
    yield from _written(text)


def _written(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each value that is a secret by what is written before it."""
    lowered = text.translate(_LOWER)
    for pattern in (_ASSIGNED, _GIVEN):
        for match in pattern.finditer(lowered):
            start, end = match.span("value")
            value, name = text[start:end], text[slice(*match.span("name"))]
            if _looks_random(value, name) if len(value) >= _SHORT else _is_short_password(value, name):
                yield start, end
    for match in _CREDENTIALS.finditer(lowered):
        start, end = match.span(match.lastgroup or 0)
        if match.lastgroup == "url" or _looks_random(text[start:end], "password"):
            yield start, end


def _located(finding: "Finding", text: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of a finding, converted from bytes; a value that Kingfisher decoded is searched for."""
    start = finding.location["start_offset"]
    if not text.isascii():
        start = len(text.encode()[:start].decode("utf-8", "ignore"))
    if text.startswith(finding.secret, start):
        yield start, start + len(finding.secret)
    else:
        yield from (match.span() for match in re.finditer(re.escape(finding.secret), text))


def _captured(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Return the span of the secret in a match: the last group that took part, as in `analyze_string`.

    If that is only the prefix of a token, as with some vendors' tokens, return the whole token.
    """
    group = next((each for each in range(match.re.groups, 0, -1) if match[each]), 0)
    start, end = match.span(group)
    rest = text[end : match.end()]
    if len(rest) > end - start and _TOKEN.fullmatch(rest):
        start, end = match.start(), _end(_TOKEN, text, match.end())
    elif group == 0:
        start = _end(_BEFORE, text, start)
        end = _end(_TOKEN, text, start + len(text[start:end].rstrip(' \t\n"')))  # some patterns omit the last part
    return start, end


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    """Return the end of the match at `start`, or `start` itself."""
    match = pattern.match(text, start)
    return match.end() if match else start


def _is_unmistakable(value: str) -> bool:
    """Return whether a value is certainly the secret wherever it occurs, and not an ordinary word.

    The value of `password=...` or `://user:...@` may be `test`, `changeme`, `admin123` or the name of a model: redacted
    throughout a commit, that would blank ordinary words and file names. So a part between word breaks must be as long
    as a password and alternate between letters, cases, digits and signs as words and versions do not, or be long and
    contain digits. Letters alone must be longer than a name.
    """
    return any(_is_password(part) for part in _BETWEEN_WORDS.split(value))


def _is_password(part: str) -> bool:
    if part.isdigit() or _entropy(part) < _MIN_PASSWORD_ENTROPY:
        return False
    alternates = len(_CHARACTER_KINDS.findall(part)) >= _LEAST_ALTERNATIONS
    if re.search(r"\d", part):
        return len(part) >= (_SHORTEST_PASSWORD if alternates else _LONG)
    return alternates and len(part) > _LONGEST_NAME


def _looks_random(value: str, name: str) -> bool:
    """Return whether the value of a key or password is a literal secret rather than a name, a path or a reference.

    Three digits are required; in mixed case one suffices, for a long value of an upper-case name, as in environment files,
    and for a password.
    """
    digits = len(re.findall(r"\d", value))
    in_environment = name.isupper() and len(value) >= _LONG
    password = _PASSWORD_NAME.search(name) and _is_password(value)
    enough = digits >= _MIN_DIGITS or (_is_mixed(value) and (in_environment or password))
    if _NOT_RANDOM.fullmatch(value) or not enough or not re.search(r"[A-Za-z]", value):
        return False
    return _entropy(value) >= _MIN_ENTROPY


def _is_short_password(value: str, name: str) -> bool:
    """Return whether a value too short for a key is a password: one of letters in both cases and digits, and no code."""
    if not _PASSWORD_NAME.search(name) or _CODE.search(value) or _NOT_RANDOM.fullmatch(value):
        return False
    return _is_mixed(value) and _is_password(value)


def _is_mixed(value: str) -> bool:
    return all(re.search(kind, value) for kind in ("[a-z]", "[A-Z]", r"\d"))


def _entropy(value: str) -> float:
    """Return the Shannon entropy in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


@cache
def _detectors() -> _Detectors:
    """Build both scanners, once: Kingfisher compiles its rules in seconds and caches them on disk."""
    from detect_secrets import plugins
    from detect_secrets.plugins.base import RegexBasedDetector
    from kingfisher_sdk.scanner import Scanner

    # Public addresses are not secret, and private keys are redacted as blocks.
    skipped = {"ip_public", "private_key", "base", "high_entropy_strings", "keyword"}
    names = [info.name for info in pkgutil.iter_modules(plugins.__path__) if info.name not in skipped]
    modules = [importlib.import_module(f"detect_secrets.plugins.{name}") for name in names]
    found = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, RegexBasedDetector) and value is not RegexBasedDetector
    }
    return _Detectors(Scanner(), tuple(detector() for detector in sorted(found, key=lambda each: each.__name__)))
