"""Anybody's text, made safe to show."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.text import one_line, quantity, scalar, shorten, visible

ANY = st.text(st.characters(exclude_categories=()), max_size=60)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("\0", "␀"),
        ("a\x08b", "a␈b"),
        ("\x7f", "⟨U+007F⟩"),
        ("\x9b", "⟨U+009B⟩"),
        ("user\u202etxt.exe", "user⟨U+202E⟩txt.exe"),
        ("\u2066a\u2069", "⟨U+2066⟩a⟨U+2069⟩"),
        ("\u200e\u200f\u061c", "⟨U+200E⟩⟨U+200F⟩⟨U+061C⟩"),
        ("zero\u200bwidth", "zero⟨U+200B⟩width"),
        ("soft\u00adhyphen", "soft⟨U+00AD⟩hyphen"),
        ("\ufeffmark", "⟨U+FEFF⟩mark"),
        ("in\u2062visible", "in⟨U+2062⟩visible"),
        ("line\u2028end\u2029", "line⟨U+2028⟩end⟨U+2029⟩"),
        ("tag\U000e0041", "tag⟨U+E0041⟩"),
        ("pass\u200dword", "pass⟨U+200D⟩word"),
        ("\u200cstart", "⟨U+200C⟩start"),
        ("end\u200d", "end⟨U+200D⟩"),
        ("a\u200d\u200db", "a⟨U+200D⟩⟨U+200D⟩b"),
        ("fill\u3164er", "fill⟨U+3164⟩er"),
        ("\u115f\u1160\uffa0\u2800", "⟨U+115F⟩⟨U+1160⟩⟨U+FFA0⟩⟨U+2800⟩"),
        ("Z" + "\u0336\u0301" * 20 + "algo", "Z" + "\u0336\u0301" * 2 + "algo"),
        ("é" + "\u0301\u200d" * 20 + "\u0489", "é" + "\u0301\u200d" * 3 + "\u0301⟨U+200D⟩"),
    ],
)
def test_what_would_be_obeyed_is_shown(text: str, shown: str) -> None:
    """Controls, directions, fillers and what has no width appear as symbols, and a stack of marks is cut."""
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "plain text",
        "👩\u200d💻 and 👨\u200d👩\u200d👧",
        "می\u200cخواهم",
        "क्\u200dष",
        "中文，标点",
        "café cafe\u0301",
        "naïve – “quoted”",
        "a\u00a0b",
        "בְּרֵאשִׁ֖ית, ệ, ที่นี่, 한글, e\u0301\u0323\u0302\u0304",
    ],
)
def test_what_belongs_to_writing_is_kept(text: str) -> None:
    """Joiners in emoji, Persian and Indic words stay, and so does every letter, mark and sign."""
    assert visible(text) == text


def test_a_surface_keeps_what_it_lays_out_itself() -> None:
    """Characters named in `keep` pass, and the others do not."""
    assert visible("a\n\tb\x1b", keep="\n\t") == "a\n\tb␛"


@given(ANY)
def test_nothing_hidden_is_left(text: str) -> None:
    """After `visible` no control, direction or line separator is left, and a second time changes nothing."""
    shown = visible(text)
    assert not any(unicodedata.category(char) in ("Cc", "Zl", "Zp") for char in shown)
    assert not any(
        unicodedata.bidirectional(char) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        for char in shown
    )
    assert visible(shown) == shown


@given(ANY)
def test_one_line_is_one_line(text: str) -> None:
    """Whatever a text holds, it is on one line afterwards, without space around it."""
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert line == line.strip()
    assert "\t" not in line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("  a  ", "a"),
        ("a\nb", "a b"),
        ("a\r\n\r\n  b", "a b"),
        ("a\tb", "a b"),
        ("a \t \v\f b", "a b"),
        ("a  b", "a  b"),
        ("\n\t ", ""),
        ("a\x85b", "a⟨U+0085⟩b"),
    ],
)
def test_a_break_becomes_a_space(text: str, line: str) -> None:
    """Line breaks and tabs become one space, ends are bare, and spaces that stand in the text stay."""
    assert one_line(text) == line


@given(ANY)
def test_a_scalar_text_can_be_stored(text: str) -> None:
    """Lone surrogates are replaced one by one, and nothing else is."""
    stored = scalar(text)
    assert stored.encode("utf-8").decode() == stored
    assert stored == "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)


@pytest.mark.parametrize(("length", "short"), [(10, "0123456789"), (11, "0123456789"), (9, "012345..."), (3, "...")])
def test_a_long_text_is_cut_with_dots(length: int, short: str) -> None:
    """A text as long as allowed stays whole, and a longer one ends in three dots."""
    assert shorten("0123456789", length) == short


@pytest.mark.parametrize(("count", "told"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1204, "1,204 files")])
def test_a_quantity_agrees_with_its_noun(count: int, told: str) -> None:
    """One has no plural, and thousands are grouped."""
    assert quantity(count, "file") == told
