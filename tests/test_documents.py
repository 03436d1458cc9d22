"""The documents say what the program does: their commands, settings, links and lengths."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import typer
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.cli.app import app
from bot.settings import Settings

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined] # a group has commands


def tokens(document: Path) -> Iterator[Token]:
    for token in MarkdownIt("commonmark").enable("table").parse(document.read_text("utf-8")):
        yield token
        yield from token.children or ()


def links(document: Path) -> Iterator[str]:
    for token in tokens(document):
        if address := token.attrGet("href") or token.attrGet("src"):
            yield str(address)


def anchors(document: Path) -> set[str]:
    """The anchors of headings as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(document: Path) -> Iterator[list[str]]:
    """The command lines of the program in the document's code, without comments."""
    for token in tokens(document):
        if token.type in ("code_block", "fence", "code_inline"):
            for line in token.content.splitlines():
                if match := re.search(r"(?:^|\s|bin/)vllm-digest ([a-z].*)", line):
                    yield shlex.split(match[1], comments=True)


def test_the_readme_is_short() -> None:
    """The README has at most 900 words."""
    assert len((ROOT / "README.md").read_text("utf-8").split()) <= 900


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda each: each.name)
def test_links_lead_somewhere(document: Path) -> None:
    """Each relative link of a document leads to a file, and to a heading of it."""
    for link in links(document):
        parts = urlsplit(link)
        if parts.scheme:
            continue
        target = (document.parent / parts.path).resolve() if parts.path else document
        assert target.is_file(), link
        assert not parts.fragment or parts.fragment in anchors(target), link


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda each: each.name)
def test_commands_exist(document: Path) -> None:
    """Each command line of a document is one that the program has, with options that it takes."""
    for name, *arguments in commands(document):
        assert name in COMMANDS, (name, arguments)
        known = {option for parameter in COMMANDS[name].params for option in parameter.opts + parameter.secondary_opts}
        given = {each.split("=")[0] for each in arguments if each.startswith("--")}
        assert given <= known, (name, given - known)


def test_every_command_is_described() -> None:
    """Each command of the program is in the table of commands."""
    text = (ROOT / "docs/commands.md").read_text("utf-8")
    assert {name for name in COMMANDS if not re.search(rf"^\| `{name}\b", text, re.MULTILINE)} == set()


def test_every_setting_is_described() -> None:
    """The page of settings names every setting, and no other."""
    settings = {name.upper() for name in Settings.model_fields}
    page = (ROOT / "docs/settings.md").read_text("utf-8")
    first_cells = "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE))
    assert set(re.findall(r"`([A-Z_]+)`", first_cells)) == settings


def test_the_link_opens_slacks_form_with_the_manifest() -> None:
    """The README's link to create the app carries the manifest."""
    link = next(each for each in links(ROOT / "README.md") if each.startswith("https://api.slack.com/apps"))
    query = parse_qs(urlsplit(link).query)
    assert query["new_app"] == ["1"]
    assert json.loads(query["manifest_json"][0]) == json.loads((ROOT / "manifest.json").read_text("utf-8"))
