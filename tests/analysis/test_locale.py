"""The catalogue: every sentence of the code and the templates is in the `.po` file, once, with the same placeholders."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter
from typing import NamedTuple

import pytest
from babel.messages.pofile import read_po
from jinja2 import Environment, nodes

import analysis
from analysis.errors import Misuse
from analysis.locale import LANGUAGES, Language, Phrase, catalogue, translated

ROOT = Path(analysis.__file__).parent.parent
TRANSLATED = [each for each in LANGUAGES if each != "en"]
MARKERS = ("say", "mark", "Phrase", "InputError")  # what takes a sentence as its first argument


class Message(NamedTuple):
    """A sentence of the code: its context, and its msgid and msgid_plural."""

    context: str
    message: str
    plural: str = ""


def test_every_sentence_is_translated() -> None:
    """Each sentence of the code and of the templates has an entry in every `.po` file."""
    for language in TRANSLATED:
        assert [each for each in messages() if each not in entries(language)] == []


def test_no_translation_is_unused() -> None:
    """Each entry of a `.po` file is a sentence of the code or of a template, and occurs once."""
    used = set(messages())
    for language in TRANSLATED:
        assert [each for each in entries(language) if each not in used] == []
        text = (ROOT / "analysis" / "locale" / f"{language}.po").read_text(encoding="utf-8")
        assert len(re.findall("^msgid ", text, re.MULTILINE)) == len(entries(language)) + 1  # and the header


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_are_complete(language: Language) -> None:
    """A translation has every plural form and the placeholders of its sentence with their formats, and is not fuzzy."""
    for message, forms in entries(language).items():
        assert all(forms), message
        assert "fuzzy" not in flags(language)[message], message
        for form in forms:
            assert placeholders(form) == placeholders(message.message), message
        assert placeholders(message.plural or message.message) == placeholders(message.message), message


def test_sentences_of_the_code_are_english() -> None:
    """The sentences of the code are English, in ASCII but for emoji and signs."""
    assert [each for each in messages() if re.search(r"[\u3000-\u9fff\uff00-\uffef]", "".join(each))] == []


def test_no_sentence_is_about_one_repository() -> None:
    """Examples are of no particular repository, since most bots read another."""
    own = re.compile(r"rocm|csrc|cuda|\bkv\b|vllm(?!-digest)|\bllm\.|\.cu", re.IGNORECASE)
    told = [*messages(), *(form for language in TRANSLATED for forms in entries(language).values() for form in forms)]
    assert [each for each in told if own.search("".join(each))] == []


def test_english_needs_no_babel() -> None:
    """Babel is imported when the first sentence is translated: English needs none of it."""
    code = (
        "import sys; from analysis.locale import catalogue; catalogue('en')('View commit'); "
        "before = 'babel' in sys.modules; catalogue('zh')('View commit'); print(before, 'babel' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == ["False", "True"]


def test_phrases_within_phrases_are_in_the_same_language() -> None:
    """A placeholder that is filled with a phrase is in the language of the whole; an error's own text is the English."""
    cause = Phrase("connection refused")
    error = Misuse(
        Phrase("{host} did not respond ({cause}); check GITHUB_API_URL and the network", host="g", cause=cause)
    )
    assert error.translated("zh") == "g 没有应答（连接被拒绝），请检查 GITHUB_API_URL 和网络"
    assert (
        str(error)
        == error.translated("en")
        == "g did not respond (connection refused); check GITHUB_API_URL and the network"
    )


def test_a_sentence_without_a_translation_stays_as_it_is() -> None:
    """An error of the command line has one text, whatever is in it."""
    assert (
        Misuse("a {brace}").translated("zh")
        == translated("a {brace}", "zh")
        == catalogue("zh")("a {brace}")
        == "a {brace}"
    )


@cache
def messages() -> list[Message]:
    """Return the sentences of the code and of the templates, in the order of the files."""
    found: dict[Message, None] = {}
    for package in ("analysis", "bot"):
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix == ".py":
                found |= dict.fromkeys(_of_module(path))
            elif path.suffix == ".j2":
                found |= dict.fromkeys(_of_template(path))
    return list(found)


def entries(language: Language) -> dict[Message, tuple[str, ...]]:
    """Return the entries of a `.po` file with the forms of their translations."""
    return {message: forms for message, (forms, _) in _read(language).items()}


def flags(language: Language) -> dict[Message, set[str]]:
    """Return the flags of the entries of a `.po` file."""
    return {message: flagged for message, (_, flagged) in _read(language).items()}


@cache
def _read(language: Language) -> dict[Message, tuple[tuple[str, ...], set[str]]]:
    with (ROOT / "analysis" / "locale" / f"{language}.po").open("rb") as file:
        catalog = read_po(file, locale=language, abort_invalid=True)
    found = {}
    for each in catalog:
        ids = (each.id,) if isinstance(each.id, str) else each.id
        forms = (each.string,) if isinstance(each.string, str) else tuple(each.string or ())
        if ids[0]:
            assert len(forms) == (1 if len(ids) == 1 else catalog.num_plurals)
            found[Message(each.context or "", *ids)] = forms, set(each.flags)
    return found


def placeholders(text: str) -> set[tuple[str, str]]:
    """Return the names of the placeholders of a sentence with their format specifications."""
    return {(name, form or "") for _, name, form, _ in Formatter().parse(text) if name is not None}


def _of_module(path: Path) -> Iterator[Message]:
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    for node in sorted(calls, key=lambda each: (each.lineno, each.col_offset)):
        match node.func:
            case ast.Name(id=name) if name in MARKERS:
                kind = name
            case ast.Call(func=ast.Name(id="catalogue")):
                kind = "say"
            case ast.Attribute(value=ast.Name(id="say") | ast.Call(func=ast.Name(id="catalogue")), attr=name):
                kind = name
            case _:
                continue
        yield from _of_call(kind, [_strings(each) for each in node.args])


def _of_template(path: Path) -> Iterator[Message]:
    for node in Environment(autoescape=True).parse(path.read_text(encoding="utf-8")).find_all(nodes.Call):
        match node.node:
            case nodes.Name(name="say"):
                kind = "say"
            case nodes.Getattr(node=nodes.Name(name="say"), attr=name):
                kind = name
            case _:
                continue
        yield from _of_call(kind, [_constants(each) for each in node.args])


def _of_call(kind: str, arguments: list[list[str]]) -> Iterator[Message]:
    """Yield the sentences of a call, each of whose arguments is one of some constants, or of none."""
    match kind, arguments:
        case "mark", [sentences, [context]]:
            yield from (Message(context, each) for each in sentences)
        case _, [sentences, *_] if kind in MARKERS:
            yield from (Message("", each) for each in sentences)
        case "context", [[context], sentences, *_]:
            yield from (Message(context, each) for each in sentences)
        case "plural", [[one], [many], *_]:
            yield Message("", one, many)


def _strings(node: ast.expr) -> list[str]:
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.IfExp(body=body, orelse=other):
            return _strings(body) + _strings(other)
        case ast.BoolOp(values=values):
            return [text for each in values for text in _strings(each)]
    return []


def _constants(node: nodes.Expr) -> list[str]:
    match node:
        case nodes.Const(value=str(text)):
            return [text]
        case nodes.CondExpr(expr1=body, expr2=other):
            return _constants(body) + (_constants(other) if other else [])
    return []
