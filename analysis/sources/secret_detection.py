"""Detection of secrets in a text.

Two scanners run, since each misses what the other finds: Kingfisher (a native engine with one rule per vendor) and
detect-secrets' pattern detectors. Patterns of our own find what is a secret by the name or the syntax before it, and in files
that are for credentials by their names, where a value is one however it looks.
"""

import importlib
import pkgutil
import re
import string
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from analysis.sources.concealed_text import decoded_runs, joined_lines
from analysis.sources.secret_values import is_short_password, is_unmistakable, looks_random

if TYPE_CHECKING:
    from detect_secrets.plugins.base import RegexBasedDetector
    from kingfisher_sdk.core import Finding
    from kingfisher_sdk.scanner import Scanner

# What stands in a file's place is none: `${TOKEN}`, `$TOKEN`, `<token>`, `{{ token }}`, `%TOKEN%`, `****`, `xxxx`, `[REDACTED:1]`.
_NO_REFERENCE = r"(?!\$|<|\{|%|\*+|[xX.]+(?![^\s\"'])|\[)"
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
# Credentials by their syntax alone: a header, an entry of `.netrc`, a login of Docker, a password in a URL or in one that a URL quotes,
# a line of `.pgpass`, and `-p` of MySQL's programs and of `sshpass`, but no port. A diff's sign may stand between two words.
_CREDENTIALS = re.compile(
    rf"""(?x) (?:authorization{_QUOTE}\]?\s*[:=,：]\s*{_QUOTE}(?:basic|bearer|token)(?:\s|%20)+(?P<header>[\w+/.~-]{{12,}}=*)
    | (?:machine|login|account)\s+(?:[-+]\s+)?\S+\s+(?:[-+]\s+)?password\s+["']?(?P<netrc>[^\s"'`,;]{{8,}})
    | password\s+["']?(?P<netrc_first>[^\s"'`,;]{{8,}})["']?\s+(?:[-+]\s+)?(?:login|account)\s
    | "auth\\{{0,3}}"\s*:\s*\\{{0,3}}"(?P<docker>[a-z0-9+/]{{12,}}={{0,2}})\\{{0,3}}"
    | ://[^\s:/?\#"'`,()\[\]<>]*:(?P<url>(?![$*{{])[^\s/?\#"'`,()\[\]{{}}<>]+)@(?=[\w.\[-])
    | %3a%2f%2f(?:[\w.~+-]|%(?!3a|2f))*%3a(?P<url_in_url>(?:(?!%2f|%3f|%23)[^\s/?\#"'`,()\[\]<>&])+?)%40(?=[\w.%-])
    | :(?<=[\w*]:)(?:(?P<port>5432)|\*|\d{{4,5}}):(?:\*|[a-z_][\w-]*):(?:\*|[a-z_][\w.@-]*):
      (?P<pgpass>{_NO_REFERENCE}(?:\\.|[^\s:"'`\\]){{4,}})(?=[\s"'`\\]|$)
    | (?: m(?:ysql|ariadb)(?<![\w.]mysql)(?<![\w-]-mysql)(?<![\w.]mariadb)(?<![\w-]-mariadb)(?<!lib/mysql)[\w-]*[\s"'](?:[^\n;&|]|(?<=\\)\n){{0,200}}?(?<=[\s"'])-p(?!["']?\d{{1,5}}\b)
        | sshpass(?:[ \t"',]+-[a-z]+)*?[ \t"',]+-p(?:["'],[ \t]*(?=["'])|[ \t]+)?)
      (?P<quote>["'])?(?P<command>(?![\s+,]){_NO_REFERENCE}(?(quote)[^"'\n]|[^\s"'`;&|]){{4,}}))"""
)
# What leaves no doubt, however ordinary the value is; of `.pgpass` a line with PostgreSQL's own port.
_CERTAIN = ("url", "url_in_url", "port", "command")
# Cookies in a header or an option, and the value of each.
_COOKIES = re.compile(
    rf"""(?x)(?:cookie(?:{_QUOTE}\]?\s*[:=,：]|(?<=--cookie)\s)|curl\b(?:[^\n]|(?<=\\)\n){{0,200}}?\s-b\s)\s*f?{_QUOTE}(?P<pairs>[^\n"'`]+)"""
)
_COOKIE = re.compile(r"""[^\s=;]+=(?P<value>[\w%+/=.:~|-]{8,})(?![^\s;,"'`\\])""")
# Tokens that are certain by their form, inside other words too: their prefix with that many characters is in no name.
_VENDOR_TOKENS = re.compile(r"hf_[A-Za-z0-9]{34}|sk-ant-[a-z]+\d\d-(?:[\w-]{93}AA|[\w-]{80,})|AIza[\w-]{35}", re.ASCII)
_PUNCTUATION = re.compile(r"[^\sA-Za-z0-9_-]")
# Detectors that try every word of a text, and the characters of the shortest run that they match.
_SHORTEST_RUNS = {"CloudantDetector": 24, "IbmCloudIamDetector": 44, "IbmCosHmacDetector": 48, "SoftlayerDetector": 64}
_RUN = re.compile(r"(?<![\w-])[\w-]{24,}")
_SHORT = 12  # below it only a password may be assigned
_TOKEN = re.compile(r"[\w-]+")
_BEFORE = re.compile(r"[\s:=\"]*(?:AccountKey=)?")  # prefix that detect-secrets includes in front of some tokens
_BARE = re.compile(r"[^\\<>&(){}|\]]+")  # the value without code, markup or a query after it
REDACTED = "[REDACTED:"  # begins a placeholder, which is no secret


_VALUE_END = r"(?=[ \t]*\r?$)"
_LINE_BEGIN = r"^[-+ ]?[ \t]*"  # after a diff's sign
_KEY_FILE = re.compile(
    r"\.(?:pem|key|p8|ppk)$|(?:^|/)(?:id_(?:rsa|dsa|ecdsa|ed25519)|ssh_host_\w+_key)(?:[._-](?!pub$)\w+)*$",
    re.IGNORECASE,
)


def _values(pattern: str) -> re.Pattern[str]:
    """Return what finds the values of a kind of file, line by line."""
    return re.compile(pattern.replace("VALUE", rf"(?P<value>{_NO_REFERENCE}[^\s\"']{{4,}})"), re.MULTILINE)


# The names of files, and where the values stand in them.
_FILES = tuple(
    (re.compile(rf"(?:^|/)(?:{name})$", re.IGNORECASE), _values(pattern))
    for name, pattern in (
        (r"\.npmrc|\.yarnrc", rf"{_LINE_BEGIN}[^\s=;#]*_(?:authToken|auth|password)[ \t]*=[ \t]*[\"']?VALUE"),
        (r"[._]netrc", r"(?:^|[-+\s])password[ \t]+[\"']?VALUE"),
        (r"\.?pgpass(?:\.conf)?", rf"{_LINE_BEGIN}(?!#)(?:(?:\\.|[^\\:\n])*:){{4}}VALUE{_VALUE_END}"),
        (
            r"\.aws/(?:credentials|config)|(?:aws[._-]?)?credentials",
            rf"{_LINE_BEGIN}aws_(?:secret_access_key|session_token)[ \t]*=[ \t]*VALUE{_VALUE_END}",
        ),
        (
            r"\.kube/config|kubeconfig(?:\.ya?ml|\.conf)?|[\w.-]+[.-]kubeconfig(?:\.ya?ml)?|(?:super-)?admin\.conf",
            rf"{_LINE_BEGIN}[\"']?(?:client-key-data|token|password)[\"']?:[ \t]*[\"']?VALUE",
        ),
        (
            r"\.docker/config\.json|\.dockercfg|\.?dockerconfig(?:\.json|json)",
            r"\"(?:auth|identitytoken|registrytoken|password)\"\s*:\s*\"VALUE",
        ),
        (r"\.pypirc", rf"{_LINE_BEGIN}password[ \t]*[=:][ \t]*VALUE"),
    )
)


class _Detectors(NamedTuple):
    native: "Scanner"
    patterns: "tuple[RegexBasedDetector, ...]"


class Place(NamedTuple):
    """A secret in a text, from the offset `start` up to, but not including, `end`."""

    start: int
    end: int
    secret: str


def secrets_in(text: str) -> Iterator[Place]:
    """Yield the secrets in a text, each with the value by which it is recognized elsewhere; of a broken one each piece."""
    for start, end in _found(text):
        if secret := _recognizable(text[start:end]):
            yield Place(start, end, unquote(secret))  # a URL's password may stand elsewhere as it is
    for joined in joined_lines(text):
        for start, end in _found(joined.text):
            places = list(joined.places(start, end))
            secret = _recognizable(joined.text[start:end])
            if len(places) > 1 and secret:
                yield from (Place(*place, secret) for place in places)


def _recognizable(value: str) -> str:
    """Return the part of a secret that is recognized elsewhere; "" of a placeholder, which is none."""
    if REDACTED in value:
        return ""
    bare = _BARE.match(value)
    known = bare[0].rstrip(".:!?*") if bare else ""
    return known if is_unmistakable(known) else value


def _found(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each match of the scanners."""
    detectors = _detectors()
    longest = max(map(len, _RUN.findall(text)), default=0)
    # Many of Kingfisher's rules want a space or a quote behind a token, where prose and code have any sign. What it decodes
    # itself is left to `decoded_runs`, which knows more encodings and has all detectors read them.
    for scanned in (text, _PUNCTUATION.sub(" ", text)) if longest else (text,):
        for finding in detectors.native.scan(scanned):
            if finding.visible and not finding.is_base64_encoded:
                yield _located(finding, scanned)
    yield from (match.span() for match in _VENDOR_TOKENS.finditer(text))
    for detector in detectors.patterns:
        if longest < _SHORTEST_RUNS.get(type(detector).__name__, 0):
            continue
        for pattern in detector.denylist:
            for match in pattern.finditer(text):
                yield _captured(text, match)
    yield from _written(text)
    yield from ((start, end) for start, end, decoded in decoded_runs(text) if any(_found(decoded)))


def _written(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each value that is a secret by what is written before it."""
    lowered = text.translate(_LOWER)
    for pattern in (_ASSIGNED, _GIVEN):
        for match in pattern.finditer(lowered):
            start, end = match.span("value")
            value, name = text[start:end], text[slice(*match.span("name"))]
            if looks_random(value, name) if len(value) >= _SHORT else is_short_password(value, name):
                yield start, end
    for match in _CREDENTIALS.finditer(lowered):
        start, end = match.span(match.lastgroup or 0)
        if any(match[each] for each in _CERTAIN) or looks_random(text[start:end], "password"):
            yield start, end
    for header in _COOKIES.finditer(lowered):
        for match in _COOKIE.finditer(text, *header.span("pairs")):
            if is_unmistakable(match["value"]):
                yield match.span("value")


def is_key_file(path: str) -> bool:
    """Return whether a file is for a private key."""
    return bool(_KEY_FILE.search(path))


def credentials_in(path: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each credential in a file, or in its patch, by the file's name."""
    for name, pattern in _FILES:
        if name.search(path):
            yield from (match.span("value") for match in pattern.finditer(text))


def _located(finding: "Finding", text: str) -> tuple[int, int]:
    """Return the start and end of a finding, converted from bytes."""
    start = finding.location["start_offset"]
    if not text.isascii():
        start = len(text.encode()[:start].decode("utf-8", "ignore"))
    return start, start + len(finding.secret)


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
