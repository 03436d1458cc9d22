"""Secrets in files whose names say what they hold: they go however ordinary they look."""

import re

import pytest

from analysis.sources.secrets import Redactor, redacted
from tests.factories import commit, file, patch

CREDENTIALS = {
    ".npmrc": "//registry.example.org/:_authToken={}",
    "web/.npmrc": "_password = {}",
    ".netrc": "machine git.example.org login ada password {}",
    "_netrc": "  password {}",
    ".pgpass": "db.example.org:5432:*:ada:{}",
    "home/.aws/credentials": "aws_secret_access_key = {}",
    "credentials": "aws_session_token={}",
    ".kube/config": "    token: {}",
    "deploy/kubeconfig.yaml": '    client-key-data: "{}"',
    ".docker/config.json": '"https://index.example.org/": {{"auth": "{}"}}',
    ".pypirc": "password: {}",
}


@pytest.mark.parametrize("sign", ["+", "-", " "])
@pytest.mark.parametrize("path", CREDENTIALS)
def test_a_credential_goes_by_the_name_of_its_file(path: str, sign: str) -> None:
    """A value of letters alone is a secret where a file's name says so, in its patch and as a whole; elsewhere it is a word."""
    line = CREDENTIALS[path].format("correcthorse")
    shown = line.replace("correcthorse", "[REDACTED:1]")
    changed = commit("Deploy", [file(path, patch(" ", sign + line)), file("a.txt", patch("+correcthorse"))])
    clean = redacted(changed)
    assert clean.files[0].patch == patch(" ", sign + shown)
    assert clean.files[1].patch == patch("+correcthorse")
    assert Redactor(files=[(path, line)])(line) == shown


@pytest.mark.parametrize("value", ["${TOKEN}", "$TOKEN", "<token>", "{{ token }}", "****", "xxxx"])
@pytest.mark.parametrize("path", CREDENTIALS)
def test_what_stands_for_a_credential_stays(path: str, value: str) -> None:
    """A variable or a placeholder gives nothing away."""
    line = CREDENTIALS[path].format(value)
    assert Redactor(files=[(path, line)])(line) == line


@pytest.mark.parametrize(
    "path", ["credentials.py", "docs/npmrc.md", "src/auth/token.go", "pgpass_test.cc", "config.json"]
)
def test_code_about_credentials_stays(path: str) -> None:
    """The names of other files say nothing of their values, if these are not told by what is before them."""
    text = "\n".join(
        line.format("correcthorse") for line in CREDENTIALS.values() if not re.search("machine|:5432:", line)
    )
    assert Redactor(files=[(path, text)])(text) == text


@pytest.mark.parametrize("path", ["id_rsa", "keys/id_ed25519.bak", "etc/ssh_host_rsa_key", "deploy/tls.key"])
def test_the_end_of_a_key_goes_with_its_file(path: str) -> None:
    """A hunk with the last, short line of a key, without a mark, is blanked; a public key is not."""
    lines = ["b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW", "QyNTUxOQAAACB9Zk2=="]
    shown = Redactor(files=[(path, "\n".join(lines))])("\n".join(lines))
    assert shown == "[REDACTED:1]\n[REDACTED:1]"
    public = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH2ZTrk"
    assert Redactor(files=[("id_ed25519.pub", public)])(public) == public
