"""Encoded text: runs of base64 or hexadecimal digits, and the text that they stand for, which is scanned as any other."""

import binascii
import re
from collections.abc import Iterator

_TEXT = re.compile(rb"[\t\n\r -~]{20,}")  # as long as the shortest token; hashes and other random bytes have none
# Digits of so many bytes, how many make a group, and their decoder. In base64 of ASCII `+` and `/` (in addresses `-` and `_`)
# only end a group, so that what stands between them decodes by itself.
_ENCODINGS = (
    (re.compile(r"[A-Za-z0-9]{27,}={0,2}"), 4, binascii.a2b_base64),
    (re.compile(r"[A-Fa-f0-9]{40,}"), 2, binascii.unhexlify),
)


def decoded_runs(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start and end of each run, with the text that is found in its bytes, if any."""
    for runs, group, decode in _ENCODINGS:
        for run in runs.finditer(text):
            for skipped in range(group):  # a word or an escape, such as `\n`, may stand right before the run
                digits = run[0].rstrip("=")[skipped:]
                if found := _TEXT.findall(decode(digits + "A" * (-len(digits) % group))):
                    yield *run.span(), b"\n".join(found).decode("ascii")
