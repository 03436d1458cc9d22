"""Whom git talks to, with which token, and whose configuration counts."""

import sys
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from analysis.errors import MirrorUnavailable, UnknownRepository
from analysis.sources.github import GitHub
from analysis.sources.mirrors import Mirrors
from tests.servers.bare import BareRepository, GitServer
from tests.servers.github import Fault
from tests.servers.mirrored import REPOSITORY, TOKEN, Place


def test_a_private_repository_needs_its_token(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the token it is cloned, without it there is none; the token is in no file and on no command line."""
    place.server.token = TOKEN
    for token in (None, "wrong"):
        with pytest.raises(UnknownRepository):
            place.mirrors(token).updated(REPOSITORY, create=True)
    commands: list[Any] = []
    sys.addaudithook(lambda event, details: commands.append(details[1]) if event == "subprocess.Popen" else None)
    assert place.cloned(token=TOKEN).read_commit(place.second).files
    assert len(commands) > 3
    assert TOKEN not in str(commands)
    assert not any(TOKEN.encode() in path.read_bytes() for path in place.folder.rglob("*") if path.is_file())


def test_a_repository_that_is_hidden_is_not_served(place: Place) -> None:
    """A repository that GitHub hides from now on is told to be unknown, and its mirror is not given, until it shows it again."""
    place.cloned()
    place.server.token = TOKEN
    with pytest.raises(UnknownRepository):
        place.mirrors().updated(REPOSITORY, create=False)
    assert place.mirrors().existing(REPOSITORY) is None
    place.server.token = ""
    assert place.cloned().head() == place.second
    assert place.mirrors().existing(REPOSITORY)


def test_a_repository_that_was_renamed_is_named(place: Place) -> None:
    """A new name is told in one line; neither a clone nor an existing mirror is given under the old one."""
    place.cloned()
    place.server.faults = [Fault(r"^/o/n\.git", 301, headers={"Location": f"{place.server.url}/o/other.git"})]
    place.server.said["full_name"] = "o/other"
    for create in (False, True):
        with pytest.raises(MirrorUnavailable, match="o/n was renamed to o/other"):
            place.mirrors().updated(REPOSITORY, create=create)
        assert place.mirrors().existing(REPOSITORY) is None
        place.mirrors().remove_unless(lambda _: False)


def test_the_token_goes_to_its_own_server_only(place: Place, tmp_path: Path) -> None:
    """A clone from elsewhere, and a redirect to elsewhere, carry no token."""
    with GitServer({"o/n": place.bare}) as elsewhere:
        place.server.said["clone_url"] = f"{elsewhere.url}/o/n.git"
        assert place.cloned(token=TOKEN).head() == place.second
        assert elsewhere.requests
        assert not any(authorization for _, _, authorization in elsewhere.requests)
        place.server.said.clear()
        place.mirrors().remove_unless(lambda _: False)
        elsewhere.requests.clear()
        place.server.faults = [Fault(r"\.git/info/refs", 302, 9, {"Location": f"{elsewhere.url}/o/n.git/info/refs"})]
        with pytest.raises(MirrorUnavailable, match="the server redirected the request"):
            place.mirrors(TOKEN).updated(REPOSITORY, create=True)
        assert not elsewhere.requests


@pytest.mark.parametrize(
    "address",
    [
        "ext::sh -c touch% /tmp/x",
        "file:///etc",
        "/etc",
        "--upload-pack=touch /tmp/x",
        "ssh://git@127.0.0.1/o/n",
        "http://user:password@127.0.0.1/o/n",
        "http://127.0.0.1/o/n\nx",
        "https://-oProxyCommand=x/o/n",
    ],
)
def test_a_hostile_address_is_not_followed(address: str, place: Place) -> None:
    """An address that is not a plain one of HTTP(S) is refused before git sees it."""
    place.server.said["clone_url"] = address
    with pytest.raises(MirrorUnavailable, match="no usable git URL"):
        place.mirrors().updated(REPOSITORY, create=True)
    assert not list(place.folder.glob("*.git"))


def test_nobodys_configuration_counts(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Configuration, hooks and attributes of users, variables and the repository change nothing and run nothing."""
    ran = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {ran}\n")
    script.chmod(0o755)
    (tmp_path / ".gitconfig").write_text(
        f"[core]\nsshCommand={script}\nhooksPath={tmp_path}\n[diff]\nexternal={script}\n[credential]\nhelper=!{script}\n"
        f'[url "http://127.0.0.1:9/"]\ninsteadOf={place.server.url}\n[diff "x"]\ntextconv={script}\n[core]\nfsmonitor={script}\n'
    )
    variables = {
        "HOME": str(tmp_path),
        "GIT_DIR": "/nowhere",
        "GIT_ASKPASS": str(script),
        "GIT_EXTERNAL_DIFF": str(script),
        "GIT_CONFIG_PARAMETERS": f"'core.pager'='{script}'",
        "GIT_TRACE": str(tmp_path / "trace"),
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with_attributes = {".gitattributes": b"* -diff diff=x\n", "a.py": b"three\n"}
    third = place.bare.commit(with_attributes, place.second)
    place.server.token = TOKEN
    assert "@@ -1 +1 @@\n-two\n+three" in [file.patch for file in place.cloned(token=TOKEN).read_commit(third).files]
    with pytest.raises(UnknownRepository):
        place.mirrors().updated(REPOSITORY, create=True)
    assert not ran.exists()
    assert not (tmp_path / "trace").exists()


def test_what_is_too_large_is_not_cloned(place: Place) -> None:
    """A repository that GitHub calls too large is not asked for; a clone that grows too large is ended."""
    place.server.said["size"] = 5_000_001
    with pytest.raises(MirrorUnavailable, match="o/n is too large for a mirror; the limit is 5,000 MB"):
        place.mirrors(repository_megabytes=5_000).updated(REPOSITORY, create=True)
    assert place.asked("git") == 0
    place.server.said.clear()
    release = Event()
    place.server.faults = [Fault(r"\.git/git-upload-pack", until=release)]
    try:
        with pytest.raises(MirrorUnavailable, match="the limit is 0 MB"):
            place.mirrors(megabytes=0).updated(REPOSITORY, create=True)
    finally:
        release.set()


def test_a_mirror_of_another_server_is_not_used(place: Place) -> None:
    """A mirror cloned from another GitHub is not taken for this one's repository of the same name."""
    place.cloned()
    other = BareRepository(place.folder.parent / "other.git")
    only = other.commit({"x": b"x"})
    with GitServer({"o/n": other}) as elsewhere:
        mirrors = Mirrors(place.folder, GitHub(elsewhere.url), None)
        assert mirrors.existing(REPOSITORY) is None
        assert mirrors.updated(REPOSITORY, create=False) is None
        made = mirrors.updated(REPOSITORY, create=True)
        assert made
        assert made.head() == only


def test_secrets_do_not_pass(place: Place) -> None:
    """A secret in a message, a patch, a file or a search is redacted."""
    key = "ghp_" + "x9Y8" * 9
    sha = place.bare.commit({"a.py": f"token = '{key}'\n".encode()}, place.second, message=f"Use {key}".encode())
    mirror = place.cloned()
    (listed,) = mirror.history("a.py", at=sha, limit=1)
    found = mirror.search(sha, "token")
    texts = [mirror.read_commit(sha), listed, mirror.read_file(sha, "a.py"), found]
    assert key not in str(texts)
    assert found[0].text == "token = '[REDACTED:1]'"
