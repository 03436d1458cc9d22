"""Targets and rules as DIGEST_PUBLISH has them, and what `doctor` says of them."""

from pathlib import Path

import pytest

from analysis.errors import Misuse
from analysis.models import Repository
from bot.models.publish_target import parse_rule, parse_target
from tests.conftest import Run
from tests.servers.writable import NAME, PublishingGitHub, WritableRepository


@pytest.mark.parametrize("text", ["owner/name", "owner/name@branch", "owner/name@release/1.0"])
def test_owner_and_name_are_a_repository(text: str) -> None:
    """Whether or not there is a folder of that name."""
    assert parse_target(text) == Repository.parse(text)


@pytest.mark.parametrize("text", ["./owner/name", "/srv/reports", "~/reports", "reports", "a/b/c", "."])
def test_anything_else_is_a_folder(text: str) -> None:
    """Its path is absolute, so that the same folder is the same target."""
    assert parse_target(text) == Path(text).expanduser().absolute()


def test_a_web_address_is_no_target() -> None:
    """It is no folder; the error does not repeat it, since it may hold a password."""
    with pytest.raises(Misuse, match="use owner/name") as refused:
        parse_target("https://somebody:secret@github.com/o/r/")
    assert "secret" not in str(refused.value)


def test_a_rule_names_a_repository_or_all() -> None:
    """A target may be read back from its name."""
    rule = parse_rule("o/n=acme/reports@main")
    assert (str(rule.repository), str(rule.target)) == ("o/n", "acme/reports@main")
    assert parse_rule("./reports").repository is None
    assert parse_target(str(parse_rule("./reports").target)) == parse_rule("./reports").target
    with pytest.raises(Misuse, match="is not a repository"):
        parse_rule("engine=acme/reports")
    with pytest.raises(Misuse, match="a target is missing"):
        parse_rule("o/n=")


@pytest.mark.parametrize(
    "text", ["o/..", "o/...git", "../n", "o/.", "o/..git", "o/.git", "o/.git.git", "./n", "o/n/..", "o/\u2025"]
)
def test_no_repository_is_a_way_out_of_a_folder(text: str) -> None:
    """A name of which dots alone are left, with or without `.git` behind them, is no repository's."""
    with pytest.raises(Misuse, match="is not a repository"):
        Repository.parse(text)


def test_doctor_checks_targets_and_token(run: Run, tmp_path: Path) -> None:
    """Each target has a line with its remedy."""
    (tmp_path / "public").mkdir()
    target = WritableRepository()
    with PublishingGitHub({}, target) as server:

        def said(**settings: str) -> list[str]:
            out = run("doctor", server=server, **settings).out
            return [line for line in out.splitlines() if "publishing" in line]

        token = {"DIGEST_PUBLISH_TOKEN": "writer"}
        assert said() == []
        assert said(DIGEST_PUBLISH=f"{NAME}, ./public, ./none", **token) == [
            f"✓ publishing to {NAME}: public, can be written",
            f"✓ publishing to {tmp_path / 'public'}: can be written",
            f"✗ publishing to {tmp_path / 'none'}: {tmp_path / 'none'} is not a folder; create it, or publish elsewhere",
        ]
        assert "DIGEST_PUBLISH_TOKEN is not set" in said(DIGEST_PUBLISH=NAME)[0]
        private = {"DIGEST_PUBLISH": f"o/n={NAME}", "DIGEST_PRIVATE": "o/n=C0123456789"}
        assert "is public, and o/n is private" in said(**private, **token)[0]
        target.protected = True
        assert "its branch is protected" in said(DIGEST_PUBLISH=NAME, **token)[0]
        target.may_push = False
        assert "the token may not write to acme/reports" in said(DIGEST_PUBLISH=NAME, **token)[0]
