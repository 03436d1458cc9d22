"""The sample day, and the local workspace: the bot between a loopback Slack and a loopback GitHub, with a web page to use it.

This is the only module that imports `loopback`; it is not imported when the bot runs in a real Slack.
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

from analysis.locale import catalogue
from analysis.models import Language, Repository
from analysis.sources.github import GitHub
from bot.services.deliveries import Delivery
from bot.services.digest import Services
from bot.settings import Settings
from bot.slack.commands.examples import Examples, forms
from bot.slack.outbox.outbox import AT_ONCE
from bot.store import Store, Subscriptions, Terms, open_engine
from loopback.github import LoopbackGitHub
from loopback.page import Page, Player
from loopback.sample import SAMPLE_DAY, SAMPLE_REPOSITORY, sample_repository
from loopback.slack import LoopbackSlack

__all__ = [
    "ADA",
    "CHANNELS",
    "LIN",
    "SAMPLE_DAY",
    "SAMPLE_REPOSITORY",
    "LocalWorkspace",
    "bot_in",
    "local_workspace",
    "sample_services",
    "sample_slack",
    "workspace_page",
]

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
_EXAMPLES = Examples(_SAMPLE.name, SAMPLE_DAY, "c1f339e", 409, "kv connector", "lantern")
_REAL: dict[Language, tuple[str, str]] = {
    "zh": ("vllm-project/vllm yesterday", "真实的一天，从 GitHub 读取"),
    "en": ("vllm-project/vllm yesterday", "a real day, read from GitHub"),
}


class LocalWorkspace(NamedTuple):
    """A running local workspace."""

    page: Page
    slack: LoopbackSlack
    settings: Settings
    folder: Path

    def told(self) -> list[str]:
        """Return the lines for the terminal: the page's URL, the sample, the kind of analysis, and how to connect a real Slack."""
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
        """Open the page in a browser if there is a display and standard error is a terminal."""
        display = sys.platform in {"darwin", "win32"} or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        if display and sys.stderr.isatty():
            webbrowser.open(self.page.url)

    def forget(self) -> None:
        """Remove the store, for an exit that does not wait for running flows."""
        rmtree(self.folder, ignore_errors=True)


@contextmanager
def sample_services() -> Iterator[Services]:
    """Open services on a loopback GitHub with the sample day and a temporary store."""
    with (
        TemporaryDirectory(prefix="vllm-digest-") as folder,
        LoopbackGitHub({SAMPLE_REPOSITORY: sample_repository()}) as server,
    ):
        store = Store(open_engine(f"sqlite:///{Path(folder, 'sample.db')}"))
        with closing(store), closing(GitHub(server.url, "sample")) as source:
            yield Services(source, store)


@contextmanager
def local_workspace(settings: Settings, now: Callable[[], datetime]) -> Iterator[LocalWorkspace]:
    """Run the workspace with the bot, which delivers the sample day to two channels."""
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
    """Run a loopback Slack with a Chinese channel, an English one shared with another organisation, and one without the bot."""
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
    """Return the web page of the loopback Slack."""
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
    """Run the bot in the workspace with its store in `folder`, and deliver the sample day once."""
    from bot import flows  # the sample day alone does without the engine
    from bot.bootstrap import running_bot

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
    """Subscribe each channel to the sample repository, which also sets the channel's language."""
    engine = open_engine(settings.database_url.get_secret_value())
    for language, channel in CHANNELS.items():
        Subscriptions(engine).keep(Terms(channel, _SAMPLE, settings.digest_time, settings.tz, language), now, ADA)
    engine.dispose()


def _forms(language: Language) -> list[tuple[str, str]]:
    """Return (command, description) of commands, with examples that work on the sample."""
    return [
        *forms(_EXAMPLES, language),
        ("help", catalogue(language)("You can ask me:").rstrip(":：")),
        _REAL[language],
    ]
