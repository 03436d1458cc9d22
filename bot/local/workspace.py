"""The local workspace: the bot between a loopback Slack and a loopback GitHub, with a web page to use it."""

import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pydantic import SecretStr

from analysis.locale import LANGUAGES, Language, catalogue, mark
from analysis.models import Repository
from analysis.sources.github import GitHub
from bot.models.clock import Clock
from bot.models.deliveries import Delivery
from bot.models.subjects import DayRef, value_of
from bot.settings import Settings
from bot.slack.commands.help import Examples, forms
from bot.slack.outbox import AT_ONCE
from bot.store import Subscription, Subscriptions, Terms, open_engine
from loopback.github import LoopbackGitHub
from loopback.page import Page, Player
from loopback.sample import SAMPLE_DAY, SAMPLE_PLUGIN, SAMPLE_REPOSITORY, sample_repositories
from loopback.slack import LoopbackSlack

ADA, LIN = "U0ADA", "U0LIN"
_ELSEWHERE = "T0ELSEWHERE"  # the other organisation
CHANNELS: dict[Language, str] = {"zh": "C0ZH", "en": "C0EN"}
_SAMPLE = Repository.parse(SAMPLE_REPOSITORY)
_DOWNSTREAM: dict[Language, tuple[Repository, ...]] = {"zh": (), "en": (Repository.parse(SAMPLE_PLUGIN),)}
_PLAYERS = (
    (ADA, mark("member")),
    (LIN, mark("outsider")),
)
_EXAMPLES = Examples(_SAMPLE.name, SAMPLE_DAY, "72d9e7b", 409, "kv connector", "lantern")


class LocalWorkspace(NamedTuple):
    """A running local workspace."""

    page: Page
    slack: LoopbackSlack
    settings: Settings
    folder: Path

    def guide(self) -> list[str]:
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
        # Renamed first: in a folder that they still find, running flows would write while it is being removed.
        rmtree(self.folder.rename(self.folder.with_suffix(".removed")), ignore_errors=True)
        rmtree(self.folder, ignore_errors=True)


@contextmanager
def local_workspace(settings: Settings, now: Clock) -> Iterator[LocalWorkspace]:
    """Run the workspace with the bot, which delivers the sample day to two channels."""
    with (
        TemporaryDirectory(prefix="vllm-digest-", ignore_cleanup_errors=True) as folder,
        sample_slack(now) as slack,
        workspace_page(slack, settings) as page,
        LoopbackGitHub(sample_repositories(), folder=Path(folder)) as github,
        bot_in(slack, github.url, Path(folder), settings, now),
    ):
        yield LocalWorkspace(page, slack, settings, Path(folder))


@contextmanager
def sample_slack(now: Clock) -> Iterator[LoopbackSlack]:
    """Run a loopback Slack with a Chinese channel, an English one shared with another organisation, and one without the bot."""
    with LoopbackSlack(pace=False, now=lambda: now().timestamp()) as slack:
        bot = slack.workspace.bot_user
        slack.workspace.channels.clear()
        slack.workspace.add_user("lin", LIN, team=_ELSEWHERE)
        slack.workspace.admins.add(ADA)
        slack.workspace.add_channel(catalogue("zh")("upstream-digest"), CHANNELS["zh"], members={bot, ADA})
        slack.workspace.add_channel(catalogue("en")("upstream-digest"), CHANNELS["en"], members={bot, ADA, LIN})
        slack.workspace.add_channel("random", "C0RANDOM", members={ADA})
        for person in (ADA, LIN):
            slack.workspace.dm(person)
        yield slack


def workspace_page(slack: LoopbackSlack, settings: Settings) -> Page:
    """Return the web page of the loopback Slack."""
    command, real_day = settings.digest_command, f"{settings.digest_repos[0]} yesterday"
    return Page(
        slack,
        [Player(user, {language: catalogue(language)(role) for language in LANGUAGES}) for user, role in _PLAYERS],
        command=command,
        forms={language: _forms(real_day, language) for language in LANGUAGES},
        note={language: _note(f"{command} {real_day}", language) for language in LANGUAGES},
        language=settings.digest_language,
    )


@contextmanager
def bot_in(slack: LoopbackSlack, github_url: str, folder: Path, settings: Settings, now: Clock) -> Iterator[None]:
    """Run the bot in the workspace with its store in `folder`, and deliver the sample day once."""
    from bot.bootstrap import Start, running_bot  # the sample day alone does without the engine

    local = settings.model_copy(
        update={
            "slack_bot_token": SecretStr(slack.bot_token),
            "slack_app_token": SecretStr(slack.app_token),
            "slack_api_url": slack.url,
            "database_url": SecretStr(f"sqlite:///{folder / 'workspace.db'}"),
            "digest_mirrors": folder / "mirrors",
            "digest_repos": [_SAMPLE, *(settings.digest_repos if "digest_repos" in settings.model_fields_set else ())],
            "digest_channel": [],
            "digest_publish": [],
            "log_level": settings.log_level or "ERROR",
        }
    )
    subscribed = _subscribe(local, now())
    with (
        closing(GitHub(github_url, "sample")) as sample,
        closing(
            GitHub(
                settings.github_api_url,
                settings.token,
                instead=dict.fromkeys((SAMPLE_REPOSITORY, SAMPLE_PLUGIN), sample),
            )
        ) as github,
        running_bot(local, now, Start(github=github, pace=AT_ONCE, mirror_all=True)) as flows,
    ):
        for each in subscribed:
            language = each.terms.language
            what = value_of(DayRef(_SAMPLE, SAMPLE_DAY, settings.tz.key, language, each.id))
            flows.start_delivery(Delivery(f"s{each.id}", each.terms.channel, what, f"sample-{language}"))
        yield


def _subscribe(settings: Settings, now: datetime) -> list[Subscription]:
    """Subscribe each channel to the sample repository, which also sets the channel's language; one names a plug-in of it."""
    engine = open_engine(settings.database_url.get_secret_value())
    terms = (
        Terms(channel, _SAMPLE, settings.digest_time, settings.tz, language, downstream=_DOWNSTREAM[language])
        for language, channel in CHANNELS.items()
    )
    subscribed = [Subscriptions(engine).keep(each, now, ADA) for each in terms]
    engine.dispose()
    return subscribed


def _note(real_day: str, language: Language) -> str:
    """Return what the page shows, and how to see a real day."""
    return catalogue(language)(
        "The sample day {day} of {repository}. For a real day type {real_day} (needs the network).",
        day=SAMPLE_DAY,
        repository=_SAMPLE,
        real_day=real_day,
    )


def _forms(real_day: str, language: Language) -> list[tuple[str, str]]:
    """Return (command, description) of commands, with examples that work on the sample."""
    say = catalogue(language)
    return [
        *forms(_EXAMPLES, language),
        ("help", say("You can ask me")),
        (real_day, say("a real day, read from GitHub")),
    ]
