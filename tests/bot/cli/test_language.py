"""The language of a one-shot command: as asked for, else as set, else as the locale says."""

from collections.abc import Callable

import pytest

from bot.settings import Settings
from tests.conftest import Run, recorded
from tests.servers.github import FaultyGitHub

ENGLISH, CHINESE = "Commits: 1 |", "本日共 1 个提交 |"


@pytest.mark.parametrize(
    ("settings", "arguments", "told"),
    [
        ({"LANG": "zh_CN.UTF-8"}, (), CHINESE),
        ({"LANG": "de_DE.UTF-8"}, (), ENGLISH),
        ({"LANG": ""}, (), ENGLISH),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW"}, (), CHINESE),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8", "LC_ALL": "C"}, (), ENGLISH),
        ({"LANG": "zh_CN.UTF-8", "DIGEST_LANGUAGE": "en"}, (), ENGLISH),
        ({"LANG": "en_US.UTF-8", "DIGEST_LANGUAGE": "zh"}, (), CHINESE),
        ({"LANG": "zh_CN.UTF-8", "DIGEST_LANGUAGE": "zh"}, ("--lang", "en"), ENGLISH),
    ],
)
def test_a_command_speaks_the_language_of_the_person(
    settings: dict[str, str], arguments: tuple[str, ...], told: str, run: Run, serve: Callable[..., FaultyGitHub]
) -> None:
    """--lang comes before DIGEST_LANGUAGE, and that before LC_ALL, LC_MESSAGES and LANG; what is not Chinese is English."""
    server = serve(recorded(1))
    done = run("digest", "2026-02-05", *arguments, server=server, **{"DIGEST_LANGUAGE": "", **settings})
    assert done.code == 0
    assert told in done.out


def test_the_bot_is_chinese_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the bot posts does not depend on the locale of the machine that it runs on."""
    monkeypatch.delenv("DIGEST_LANGUAGE", raising=False)
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    assert Settings(_env_file=None).digest_language == "zh"
