"""Secrets in files that are for credentials by their names: there a value is one however it looks."""

import re
from collections.abc import Iterator

_END = r"(?=[ \t]*\r?$)"
_LINE = r"^[-+ ]?[ \t]*"  # after a diff's sign
# What stands in a file's place is none: `${TOKEN}`, `$TOKEN`, `<token>`, `{{ token }}`, `%TOKEN%`, `****`, `xxxx`, `[REDACTED:1]`.
NO_REFERENCE = r"(?!\$|<|\{|%|\*+|[xX.]+(?![^\s\"'])|\[)"
_KEY_FILE = re.compile(
    r"\.(?:pem|key|p8|ppk)$|(?:^|/)(?:id_(?:rsa|dsa|ecdsa|ed25519)|ssh_host_\w+_key)(?:[._-](?!pub$)\w+)*$",
    re.IGNORECASE,
)


def _values(pattern: str) -> re.Pattern[str]:
    """Return what finds the values of a kind of file, line by line."""
    return re.compile(pattern.replace("VALUE", rf"(?P<value>{NO_REFERENCE}[^\s\"']{{4,}})"), re.MULTILINE)


# The names of files, and where the values stand in them.
_FILES = tuple(
    (re.compile(rf"(?:^|/)(?:{name})$", re.IGNORECASE), _values(pattern))
    for name, pattern in (
        (r"\.npmrc|\.yarnrc", rf"{_LINE}[^\s=;#]*_(?:authToken|auth|password)[ \t]*=[ \t]*[\"']?VALUE"),
        (r"[._]netrc", r"(?:^|[-+\s])password[ \t]+[\"']?VALUE"),
        (r"\.?pgpass(?:\.conf)?", rf"{_LINE}(?!#)(?:(?:\\.|[^\\:\n])*:){{4}}VALUE{_END}"),
        (
            r"\.aws/(?:credentials|config)|(?:aws[._-]?)?credentials",
            rf"{_LINE}aws_(?:secret_access_key|session_token)[ \t]*=[ \t]*VALUE{_END}",
        ),
        (
            r"\.kube/config|kubeconfig(?:\.ya?ml|\.conf)?|[\w.-]+[.-]kubeconfig(?:\.ya?ml)?|(?:super-)?admin\.conf",
            rf"{_LINE}[\"']?(?:client-key-data|token|password)[\"']?:[ \t]*[\"']?VALUE",
        ),
        (
            r"\.docker/config\.json|\.dockercfg|\.?dockerconfig(?:\.json|json)",
            r"\"(?:auth|identitytoken|registrytoken|password)\"\s*:\s*\"VALUE",
        ),
        (r"\.pypirc", rf"{_LINE}password[ \t]*[=:][ \t]*VALUE"),
    )
)


def is_key_file(path: str) -> bool:
    """Return whether a file is for a private key."""
    return bool(_KEY_FILE.search(path))


def credentials_in(path: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each credential in a file, or in its patch, by the file's name."""
    for name, pattern in _FILES:
        if name.search(path):
            yield from (match.span("value") for match in pattern.finditer(text))
