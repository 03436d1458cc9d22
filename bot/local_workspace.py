"""The local workspace: a Slack and a GitHub on this machine, the real bot in between, and a page to see it at.

Nothing of it is imported where the bot runs in a real Slack.
"""

import os
import sys
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pydantic import SecretStr

from analysis.models import Language, Repository
from analysis.sources.github import GitHub
from bot import flows
from bot.bootstrap import running_bot
from bot.services.deliveries import Delivery
from bot.settings import Settings
from bot.slack.commands.examples import Examples, forms
from bot.slack.messages.words import slack_words
from bot.slack.outbox.outbox import AT_ONCE
from bot.store import Subscriptions, Terms, open_engine
from loopback.github import LoopbackGitHub
from loopback.page import Page, Player
from loopback.sample import SAMPLE_DAY, SAMPLE_REPOSITORY, sample_repository
from loopback.slack import LoopbackSlack

ADA, LIN = "U0ADA", "U0LIN"
_ELSEWHERE = "T0ELSEWHERE"  # the other organisation
CHANNELS: dict[Language, str] = {"zh": "C0ZH", "en": "C0EN"}
_SAMPLE = Repository.parse(SAMPLE_REPOSITORY)
_PLAYERS = (
    Player(ADA, {"zh": "团队成员", "en": "a member"}),
    Player(LIN, {"zh": "外部人员", "en": "an outsider"}),
)
_NOTE: dict[Language, str] = {
    "zh": "示例日 {day}，{repository}。真实的一天：在任一频道输入 {command} vllm-project/vllm yesterday（需要网络）。",
    "en": "The sample day {day} of {repository}. For a real day type {command} vllm-project/vllm yesterday (needs the network).",
}
_EXAMPLES = Examples(_SAMPLE.name, SAMPLE_DAY, "5e89a4b", 409, "kv connector", "lantern")
_REAL: dict[Language, tuple[str, str]] = {
    "zh": ("vllm-project/vllm yesterday", "真实的一天，从 GitHub 读取"),
    "en": ("vllm-project/vllm yesterday", "a real day, read from GitHub"),
}


class LocalWorkspace(NamedTuple):
    """What is running, and where."""

    page: Page
    slack: LoopbackSlack
    settings: Settings
    folder: Path

    def told(self) -> list[str]:
        """What the terminal says: what is running, where, with what, and how to connect the real Slack."""
        model = self.settings.digest_model
        analysis = f"model {model}" if model else "rules (DIGEST_MODEL sets a model)"
        return [
            "vllm-digest is running in a local workspace, since no Slack tokens are set",
            f"  open      {self.page.url}",
            f"  shows     the sample day {SAMPLE_DAY} of {_SAMPLE}; other repositories are read from {self.settings.github_api_url}",
            f"  analysis  {analysis}; store: a temporary one, which is gone at the end",
            "  to Slack  set SLACK_BOT_TOKEN and SLACK_APP_TOKEN (README, In Slack); Ctrl+C ends this",
        ]

    def open_browser(self) -> None:
        """Opens the page where there is a display and somebody at the terminal."""
        display = sys.platform in {"darwin", "win32"} or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        if display and sys.stderr.isatty():
            webbrowser.open(self.page.url)

    def forget(self) -> None:
        """Removes the store, for an end that does not wait for what is under way."""
        rmtree(self.folder, ignore_errors=True)


@contextmanager
def local_workspace(settings: Settings, now: Callable[[], datetime]) -> Iterator[LocalWorkspace]:
    """The workspace with the bot in it, and the sample day on its way to two channels."""
    with (
        TemporaryDirectory(prefix="vllm-digest-", ignore_cleanup_errors=True) as folder,
        sample_slack(now) as slack,
        workspace_page(slack, settings) as page,
        LoopbackGitHub({SAMPLE_REPOSITORY: sample_repository()}) as github,
        bot_in(slack, github.url, Path(folder), settings, now),
    ):
        yield LocalWorkspace(page, slack, settings, Path(folder))


@contextmanager
def sample_slack(now: Callable[[], datetime]) -> Iterator[LoopbackSlack]:
    """A Slack with a channel in Chinese, one in English that another organisation shares, and one without the bot."""
    with LoopbackSlack(pace=False, now=lambda: now().timestamp()) as slack:
        bot = slack.workspace.bot_user
        slack.workspace.channels.clear()
        slack.workspace.add_user("lin", LIN, team=_ELSEWHERE)
        slack.workspace.add_channel("上游日报", CHANNELS["zh"], members={bot, ADA})
        slack.workspace.add_channel("upstream-digest", CHANNELS["en"], members={bot, ADA, LIN})
        slack.workspace.add_channel("random", "C0RANDOM", members={ADA})
        for person in (ADA, LIN):
            slack.workspace.dm(person)
        yield slack


def workspace_page(slack: LoopbackSlack, settings: Settings) -> Page:
    """The page of that Slack."""
    command = settings.digest_command
    told = {"day": SAMPLE_DAY, "repository": _SAMPLE, "command": command}
    languages: tuple[Language, ...] = ("zh", "en")
    return Page(
        slack,
        _PLAYERS,
        command=command,
        forms={language: _forms(language) for language in languages},
        note={language: _NOTE[language].format(**told) for language in languages},
        language=settings.digest_language,
        tz=settings.tz,
    )


@contextmanager
def bot_in(
    slack: LoopbackSlack, github_url: str, folder: Path, settings: Settings, now: Callable[[], datetime]
) -> Iterator[None]:
    """The bot at work in the workspace, with its store in `folder`; the sample day is delivered once."""
    local = settings.model_copy(
        update={
            "slack_bot_token": SecretStr(slack.bot_token),
            "slack_app_token": SecretStr(slack.app_token),
            "slack_api_url": slack.url,
            "database_url": SecretStr(f"sqlite:///{folder / 'workspace.db'}"),
            "digest_repos": [_SAMPLE, *(settings.digest_repos if "digest_repos" in settings.model_fields_set else ())],
            "digest_channel": [],
            "log_level": settings.log_level or "ERROR",
        }
    )
    _subscribe(local, now())
    with (
        closing(GitHub(github_url, "sample")) as sample,
        closing(GitHub(settings.github_api_url, settings.token, instead={SAMPLE_REPOSITORY: sample})) as source,
        running_bot(local, now, source=source, pace=AT_ONCE),
    ):
        for language, channel in CHANNELS.items():
            what = f"{_SAMPLE}|{SAMPLE_DAY}|{settings.tz.key}|{language}"
            flows.start_delivery(Delivery("sample", channel, what, f"sample-{language}"))
        yield


def _subscribe(settings: Settings, now: datetime) -> None:
    """Each channel gets the sample's digests in its language, and so is answered in it."""
    engine = open_engine(settings.database_url.get_secret_value())
    for language, channel in CHANNELS.items():
        Subscriptions(engine).keep(Terms(channel, _SAMPLE, settings.digest_time, settings.tz, language), now, ADA)
    engine.dispose()


def _forms(language: Language) -> list[tuple[str, str]]:
    """What can be typed, with examples that the sample answers."""
    return [*forms(_EXAMPLES, language), ("help", slack_words(language).labels["help"].rstrip(":：")), _REAL[language]]
