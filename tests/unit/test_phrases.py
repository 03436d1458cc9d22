"""What is said of what went wrong, in two languages."""

import re
from pathlib import Path
from string import Formatter

import pytest

import analysis
from analysis.errors import Misuse
from analysis.phrases import _PHRASES, Phrase, told

ROOT = Path(analysis.__file__).parent.parent
SOURCES = "\n".join(
    path.read_text(encoding="utf-8")
    for package in ("analysis", "bot")
    for path in (ROOT / package).rglob("*.py")
    if path.name != "phrases.py"
)


@pytest.mark.parametrize("name", _PHRASES)
def test_a_phrase_says_the_same_in_both_languages(name: str) -> None:
    """Both languages have the blanks of a phrase, but for options of the command line; only one of them is Chinese."""
    said = _PHRASES[name]
    blanks = [{blank for _, blank, _, _ in Formatter().parse(text) if blank} for text in said]
    assert blanks[0] == blanks[1]
    assert not re.search(r"[\u4e00-\u9fff]", said.en)
    assert re.search(r"[\u4e00-\u9fff]", said.zh)
    assert "--repo" not in said.zh


@pytest.mark.parametrize("name", _PHRASES)
def test_no_phrase_is_left_over(name: str) -> None:
    """Each phrase is said somewhere."""
    assert f'"{name}"' in SOURCES


def test_phrases_within_phrases_are_said_in_the_same_language() -> None:
    """A blank that is filled with a phrase is in the language of the whole; an error's own text is the English."""
    error = Misuse(Phrase("no_answer", host="ghe", cause=Phrase("refused")))
    assert error.told("zh") == "ghe 没有应答（连接被拒绝），请检查 GITHUB_API_URL 和网络"
    assert (
        str(error)
        == error.told("en")
        == "ghe does not answer (connection refused); check GITHUB_API_URL and the network"
    )


def test_what_is_only_said_in_english_is_said_as_it_is() -> None:
    """An error of the command line has one text, whatever is in it."""
    assert Misuse("a {brace}").told("zh") == told("a {brace}", "zh") == "a {brace}"
