"""Secrets that are written over several string literals or lines."""

import time
from itertools import product

import pytest

from analysis.sources.concealed_text import joined_lines
from analysis.sources.secrets import Redactor
from tests.analysis.sources.test_secrets import SECRETS, made

WRITTEN = [
    'x = "{}" "{}"',
    "x = '{}' + '{}'",
    'x = "{}" f"{}"',
    '+x = ("{}"\n+     "{}")',
    '+x = ("{}"  # one\n+     "{}")',
    '-x = "{}" +\n-     "{}"',
    "+x = '{}'\n+    + '{}'",
    '+x = "{}" \\\n+    "{}"',
    "-export X={}\\\n-{}",
    "I use {}\n{} for it",
    "+X={}\n+  {}",
    "+# {}\n+# {}",
    '@@ -1,2 +1,2 @@\n x = ("{}"\n-    + old)\n+    "{}")',
]


@pytest.mark.parametrize("name", SECRETS)
def test_a_token_written_in_two_parts_disappears(name: str) -> None:
    """Each part of a token is redacted, and the literals, lines and signs around them stay."""
    secret = SECRETS[name]
    for text, cut in product(WRITTEN, (9, len(secret) // 2)):
        shown = Redactor()(text.format(secret[:cut], secret[cut:]))
        # A part may be a secret by itself, with a number of its own.
        assert shown.replace("REDACTED:2", "REDACTED:1") == text.format("[REDACTED:1]", "[REDACTED:1]")


def test_a_token_may_have_any_number_of_parts() -> None:
    """A chain of literals over lines is one token, which is known again where it stands as a whole."""
    token = SECRETS["Hugging Face token"]
    parts = [token[start : start + 9] for start in range(0, len(token), 9)]
    text = "+x = (" + "\n+     ".join(f'"{part}"' for part in parts) + ")"
    shown = Redactor([text])
    assert not [part for part in parts if part in shown(text)]
    assert shown(text).count("\n") == text.count("\n")
    assert shown(f"see {token}") == "see [REDACTED:1]"


@pytest.mark.parametrize(
    "text",
    [
        '+x = ("first, the name_of_it "\n+     "and then version_3_of_the_name")',
        '+path = "models/llama-3.1-8b" + "-instruct-v2-fp8-dynamic"',
        "+gcc -O3 -DVERSION_2024_10_31 \\\n+    -march=armv8.2-a+fp16",
        f"+{made(40, '0123456789abcdef')}\n+{made(40, '0123456789abcdef')}",
        "Signed by model_v2_0_1_Large\nLlama4Maverick17B128E is next",
        '@@ -1,2 +1,2 @@\n-x = ("hf_"\n-    "one")\n+x = ("hf_"\n+    "two")',
    ],
)  # fmt: skip
def test_what_joins_to_no_token_stays(text: str) -> None:
    """Literals, hashes, options and sentences that go on over a line are no secret."""
    assert Redactor()(text) == text


def test_a_line_of_many_breaks_costs_no_more_than_its_length() -> None:
    """What begins a break thousands of times without ending one is read in a second, not in minutes."""
    begun = time.perf_counter()
    assert list(joined_lines('a"  //' * 20_000)) == []
    assert time.perf_counter() - begun < 5  # seconds; without a bound it takes minutes
