"""`vllm-digest doctor`: each broken set-up is named with what to do about it, and one that is whole is all ticks."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from socket import create_server
from sqlite3 import connect
from typing import Any, NamedTuple

import pytest

from bot.doctor import findings
from bot.slack.manifest import manifest
from bot.store import open_engine
from loopback.http_server import Loopback, QuietHandler
from loopback.slack import LoopbackSlack
from loopback.slack.server import Reply
from tests.conftest import Run, recorded
from tests.servers.chat import ScriptedChat
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.launched import Ran

NOWHERE = "http://127.0.0.1:9/v1"
RATE = {"limit": 5000, "remaining": 4999, "reset": 4102444800, "used": 1}
Serve = Callable[..., FaultyGitHub]


class RefusingChat(Loopback):
    """Answers whatever it is asked with one error."""

    def __init__(self, status: int, message: str) -> None:
        class Handler(QuietHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                data = f'{{"error": {{"message": "{message}", "type": "x"}}}}'.encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        super().__init__(Handler)


class OrganisationSlack(LoopbackSlack):
    """Says of the app that it is installed into an organisation of several workspaces."""

    def api(self, method: str, params: dict[str, Any], token: str | None) -> Reply:
        reply = super().api(method, params, token)
        return reply._replace(body=reply.body | {"is_enterprise_install": True}) if method == "auth.test" else reply


class Setup(NamedTuple):
    """A set-up that is whole, until a test changes a setting or a server."""

    run: Run
    slack: LoopbackSlack
    github: FaultyGitHub
    chat: ScriptedChat
    folder: Path

    def doctor(self, **changes: str) -> Ran:
        """What the command says; `changes` of settings, an empty one being none."""
        return self.run("doctor", server=self.github, **self.settings(**changes))

    def settings(self, **changes: str) -> dict[str, str]:
        return {
            "SLACK_BOT_TOKEN": self.slack.bot_token,
            "SLACK_APP_TOKEN": self.slack.app_token,
            "SLACK_SIGNING_SECRET": self.slack.signing_secret,
            "SLACK_API_URL": self.slack.url,
            "GITHUB_TOKEN": "token",
            "DIGEST_CHANNEL": "C0DIGEST",
            "DIGEST_MODEL": "gpt-4o-mini",
            "OPENAI_BASE_URL": self.chat.url,
            "OPENAI_API_KEY": "sk-key",
            "DIGEST_MIRRORS": "data/mirrors",
            "DIGEST_MCP_TOKEN": "made-up-token-of-the-operator",
            **changes,
        }


@pytest.fixture
def setup(run: Run, serve: Serve, tmp_path: Path) -> Iterator[Setup]:
    github = serve(recorded(1))
    github.faults = [Fault("^/rate_limit$", 200, times=1000, body={"resources": {"core": RATE}, "rate": RATE})]
    with LoopbackSlack(scopes=manifest().scopes) as slack, ScriptedChat(lambda _: "ok") as chat:
        yield Setup(run, slack, github, chat, tmp_path)


def wrong(ran: Ran) -> dict[str, str]:
    """What is wrong, by name."""
    return dict(line[2:].split(": ", 1) for line in ran.out.splitlines() if line.startswith("✗ "))


def right(ran: Ran) -> dict[str, str]:
    """What is well, by name."""
    return dict(line[2:].split(": ", 1) for line in ran.out.splitlines() if line.startswith("✓ "))


def without(ran: Ran) -> dict[str, str]:
    """What is not set or not tried, by name."""
    return dict(line[2:].split(": ", 1) for line in ran.out.splitlines() if line.startswith("– "))


def test_a_whole_set_up_is_all_ticks(setup: Setup) -> None:
    """Where all is well every line is a tick, the exit code is 0, and nothing is posted, migrated or written."""
    ran = setup.doctor()
    assert (ran.code, ran.err, wrong(ran)) == (0, "", {})
    assert list(right(ran)) == [
        "settings",
        "database",
        "mirrors",
        "GitHub",
        "repository o/n",
        "Slack bot token",
        "scopes",
        "clock",
        "channel C0DIGEST",
        "Slack app token",
        "Slack signing secret",
        "slash command",
        "model",
        "MCP token",
    ]
    assert "4,999 of 5,000 requests left" in right(ran)["GitHub"]
    assert [request["max_tokens"] for request in setup.chat.requests] == [1]
    assert {call.method for call in setup.slack.calls} == {"auth.test", "conversations.info", "apps.connections.open"}
    assert list(setup.folder.iterdir()) == []
    assert "\x1b" not in ran.out


def test_an_unknown_setting_is_shown(setup: Setup) -> None:
    """A variable that looks like a setting and is none is shown with the one that was meant, and is no failure."""
    ran = setup.doctor(DIGEST_CHANELS="C1")
    assert (ran.code, without(ran)["settings"]) == (0, "DIGEST_CHANELS is not a setting; did you mean DIGEST_CHANNEL?")


def test_mirrors(setup: Setup) -> None:
    """Each mirror is named with its size; a folder that cannot be used is wrong, and an empty setting turns them off."""
    assert "none yet" in right(setup.doctor())["mirrors"]
    mirror = setup.folder / "data" / "mirrors" / "o+n.git"
    mirror.mkdir(parents=True)
    (mirror / "HEAD").write_bytes(b"x" * 2_000_000)
    assert right(setup.doctor())["mirrors"] == "o/n 2 MB"
    ran = setup.doctor(DIGEST_MIRRORS=str(mirror / "HEAD"))
    assert (ran.code, list(wrong(ran))) == (2, ["mirrors"])
    assert "DIGEST_MIRRORS" in wrong(ran)["mirrors"]
    assert "disabled" in without(setup.doctor(DIGEST_MIRRORS=""))["mirrors"]
    assert "disabled" in without(setup.doctor(DIGEST_MIRRORS=" "))["mirrors"]


def test_the_folder_of_mirrors_may_be_in_the_home_folder(setup: Setup) -> None:
    """A `~` in front stands for the home folder also where no shell replaces it."""
    mirror = setup.folder / "home" / "git" / "o+n.git"
    mirror.mkdir(parents=True)
    (mirror / "HEAD").write_bytes(b"x" * 2_000_000)
    ran = setup.doctor(DIGEST_MIRRORS="~/git", HOME=str(setup.folder / "home"))
    assert right(ran)["mirrors"] == "o/n 2 MB"


def test_no_git(setup: Setup) -> None:
    """Without git the mirrors are what is wrong, with what to install."""
    ran = setup.doctor(PATH=str(setup.folder))
    assert (ran.code, list(wrong(ran))) == (3, ["mirrors"])
    assert "install git" in wrong(ran)["mirrors"]


@pytest.mark.parametrize(
    ("secret", "name", "command"),
    [("SLACK_APP_TOKEN", "Slack app token", "run"), ("SLACK_SIGNING_SECRET", "Slack signing secret", "serve")],
)
def test_a_small_set_up_is_whole_too(setup: Setup, secret: str, name: str, command: str) -> None:
    """What may be left out is told as not set, with the setting and what it is good for, and is no failure."""
    gains = {
        "GitHub token": ("GITHUB_TOKEN", "5,000 requests"),
        "channel": ("DIGEST_CHANNEL", "digests"),
        name: (secret, f"`{command}`"),
        "model": ("DIGEST_MODEL", "rules"),
        "MCP token": ("DIGEST_MCP_TOKEN", "agents"),
    }
    ran = setup.doctor(**{setting: "" for setting, _ in gains.values()})
    assert (ran.code, ran.err, wrong(ran)) == (0, "", {})
    told = without(ran)
    assert list(told) == list(gains)
    for each, (setting, gain) in gains.items():
        assert told[each].startswith("not set (optional): ")
        assert setting in told[each]
        assert gain in told[each]


def test_a_set_up_without_slack_is_whole(setup: Setup) -> None:
    """Without any of Slack's secrets it is the command line and the local workspace, and nothing is asked of Slack."""
    ran = setup.doctor(SLACK_BOT_TOKEN="", SLACK_APP_TOKEN="", SLACK_SIGNING_SECRET="")
    assert (ran.code, ran.err, wrong(ran)) == (0, "", {})
    for setting in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"):
        assert setting in without(ran)["Slack"]
    assert "not checked" in without(ran)["channel C0DIGEST"]
    assert not setup.slack.calls


# Broken set-ups


@pytest.mark.parametrize(
    ("changes", "code", "found"),
    [
        ({"SLACK_BOT_TOKEN": ""}, 2, {"Slack bot token": "SLACK_BOT_TOKEN is not set"}),
        ({"SLACK_BOT_TOKEN": "xoxb-another"}, 2, {"Slack bot token": "invalid_auth"}),
        ({"SLACK_BOT_TOKEN": "xapp-local"}, 2, {"Slack bot token": "must start with xoxb-"}),
        ({"SLACK_BOT_TOKEN": "secret!"}, 2, {"Slack bot token": "must start with"}),
        ({"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": ""}, 2, {"Slack app token": "SLACK_APP_TOKEN is not set"}),
        ({"SLACK_APP_TOKEN": "xapp-another"}, 2, {"Slack app token": "SLACK_APP_TOKEN"}),
        ({"SLACK_APP_TOKEN": "xoxb-local"}, 2, {"Slack app token": "SLACK_APP_TOKEN"}),
        ({"DIGEST_MCP_TOKEN": "short-one"}, 2, {"settings": "DIGEST_MCP_TOKEN: is shorter than 20 characters"}),
        ({"OPENAI_BASE_URL": NOWHERE}, 3, {"model": "check OPENAI_BASE_URL"}),
        # Where a service is away too, the code is the configuration's: that can be mended.
        ({"OPENAI_BASE_URL": NOWHERE, "DIGEST_COMMAND": "/other"}, 2, {"slash command": "/vllm-digest", "model": ""}),
        *(
            ({"DATABASE_URL": url}, 2, {"database": "DATABASE_URL"})
            for url in (
                *("sqlite://", "sqlite:////proc/x/y.db", "oracle://x"),
                *("sqlite:///{folder}", "sqlite:///{folder}/text"),
            )
        ),
    ],
)
def test_a_wrong_setting_is_named(setup: Setup, changes: dict[str, str], code: int, found: dict[str, str]) -> None:
    """It alone, with what to do; of tokens nothing is printed."""
    (setup.folder / "text").write_text("no database at all, but long enough to be looked at " * 100)
    ran = setup.doctor(**{name: value.format(folder=setup.folder) for name, value in changes.items()})
    assert (ran.code, list(wrong(ran))) == (code, list(found))
    assert all(words in wrong(ran)[name] for name, words in found.items())
    given = [value for name, value in changes.items() if name.endswith("_TOKEN") and value]
    assert not any(value in ran.out + ran.err for value in given)


def test_a_wrong_github_token(setup: Setup) -> None:
    """A token that it refuses is named once, not once a repository."""
    setup.github.faults.insert(0, Fault("/", 401, times=100, body={"message": "Bad credentials"}))
    ran = setup.doctor()
    assert (ran.code, list(wrong(ran))) == (2, ["GitHub"])
    assert "check GITHUB_TOKEN" in wrong(ran)["GitHub"]


def test_a_missing_scope(setup: Setup) -> None:
    """The scopes of the manifest that the app lacks are named with how to give them."""
    setup.slack.scopes -= {"im:history", "files:write"}
    ran = setup.doctor()
    assert (ran.code, list(wrong(ran))) == (2, ["scopes"])
    assert "the app lacks files:write, im:history;" in wrong(ran)["scopes"]
    assert "install it again" in wrong(ran)["scopes"]


def test_an_app_without_the_agent_surface(setup: Setup) -> None:
    """An app that was not moved to it is well; what it goes without is said."""
    setup.slack.scopes -= {"assistant:write"}
    ran = setup.doctor()
    assert (ran.code, list(wrong(ran))) == (0, [])
    assert "without assistant:write" in ran.out


def test_the_bot_is_not_in_the_channel(setup: Setup) -> None:
    """Of three channels, one without the bot, an archived one and one that is not known, each is named with what to do."""
    setup.slack.workspace.add_channel("old", "C0OLD", members={"U0BOT"})
    setup.slack.workspace.channels["C0OLD"].archived = True
    setup.slack.workspace.add_channel("hidden", "C0HIDDEN", private=True, members={"U0ADA"})
    ran = setup.doctor(DIGEST_CHANNEL="C0DIGEST,C0QUIET,C0OLD,C0HIDDEN")
    assert ran.code == 2
    assert list(wrong(ran)) == ["channel C0QUIET", "channel C0OLD", "channel C0HIDDEN"]
    assert "type there: /invite @vllm-digest" in wrong(ran)["channel C0QUIET"]
    assert "archived" in wrong(ran)["channel C0OLD"]
    assert "invite the bot" in wrong(ran)["channel C0HIDDEN"]
    assert right(ran)["channel C0DIGEST"] == "the bot is in it"


@pytest.mark.parametrize(
    ("status", "message", "setting"),
    [
        (404, "The model `gpt-4o-mini` does not exist", "DIGEST_MODEL"),
        (401, "Incorrect API key provided", "OPENAI_API_KEY"),
    ],
)
def test_an_unknown_model(setup: Setup, status: int, message: str, setting: str) -> None:
    """A model that the server does not have, or a key that it refuses, is a wrong setting."""
    with RefusingChat(status, message) as chat:
        ran = setup.doctor(OPENAI_BASE_URL=f"{chat.url}/v1")
    assert (ran.code, list(wrong(ran))) == (2, ["model"])
    assert setting in wrong(ran)["model"]
    assert "sk-key" not in ran.out + ran.err


@pytest.mark.parametrize("refused", [False, True], ids=["told", "refused"])
def test_githubs_limit_is_used_up(setup: Setup, refused: bool) -> None:
    """A limit that is used up is told with the time at which it ends, and is GitHub's failure, not the configuration's."""
    if refused:
        setup.github.faults.clear()
        setup.github.limit = 0
    else:
        spent = RATE | {"remaining": 0, "reset": int(time.time()) + 1800}
        setup.github.faults[0] = Fault("^/rate_limit$", 200, body={"resources": {"core": spent}, "rate": spent})
    ran = setup.doctor()
    assert (ran.code, list(wrong(ran))) == (3, ["GitHub"])
    assert "limit is reached; it resets at" in wrong(ran)["GitHub"]


@pytest.mark.parametrize(
    ("version", "told"),
    [("0019", "move it away"), ("0020", "start the bot once to upgrade it"), ("9999", "upgrade the program")],
)
def test_a_database_behind_or_ahead(setup: Setup, version: str, told: str) -> None:
    """A database of an earlier or a newer program is named with what to do, and is left as it was to the last byte."""
    file = setup.folder / "bot.db"
    open_engine(f"sqlite:///{file}").dispose()
    with closing(connect(file)) as connection, connection:
        connection.execute("update alembic_version set version_num = ?, oldest_program = ?", (version, version))
    before = sha256(file.read_bytes()).hexdigest(), sorted(setup.folder.iterdir())
    ran = setup.doctor(DATABASE_URL=f"sqlite:///{file}")
    assert (ran.code, list(wrong(ran))) == (2, ["database"])
    assert told in wrong(ran)["database"]
    assert "bot.db" in wrong(ran)["database"]
    assert (sha256(file.read_bytes()).hexdigest(), sorted(setup.folder.iterdir())) == before


def test_a_newer_database_that_this_program_can_work_with(setup: Setup) -> None:
    """It is well, and the line says that a newer program wrote it."""
    file = setup.folder / "bot.db"
    open_engine(f"sqlite:///{file}").dispose()
    with closing(connect(file)) as connection, connection:
        connection.execute("update alembic_version set version_num = '9999'")
    ran = setup.doctor(DATABASE_URL=f"sqlite:///{file}")
    assert right(ran)["database"].endswith("was written by a newer vllm-digest, which this one can work with")


def test_wrong_settings(setup: Setup) -> None:
    """Each setting that cannot be right has a line in our words, the last says how many, and nothing is asked of anybody."""
    ran = setup.doctor(
        DIGEST_TIMEZONE="Mars/Olympus", DIGEST_CONCURRENCY="0", DIGEST_DAILY_BUDGET_USD="much", DIGEST_LANGUAGE="fr"
    )
    assert (ran.code, list(wrong(ran))) == (2, ["settings"])
    rows = {each.partition(": ")[2] for each in ran.out.splitlines() if each.startswith("✗ settings: ")}
    [timezone] = [each for each in rows if "Mars/Olympus" in each]
    assert rows - {timezone} == {
        "DIGEST_CONCURRENCY: must be at least 1",
        "DIGEST_DAILY_BUDGET_USD: must be a number",
        "DIGEST_LANGUAGE: is not supported; use 'zh' or 'en'",
    }
    assert "4 of 5 checks failed" in ran.err
    assert not setup.slack.calls
    assert not setup.github.requests
    assert not setup.chat.requests


# And more


def test_repositories_are_tried(setup: Setup) -> None:
    """A repository or a branch that is not there, and a private one that no channel may see, are named; a listed one is well."""
    for name in ("o/secret", "o/listed"):
        setup.github.repositories[name] = setup.github.repositories["o/n"]
        owner, short = name.split("/")
        body = {"id": 1, "name": short, "full_name": name, "private": True, "owner": {"login": owner}}
        setup.github.faults.append(Fault(f"^/repos/{name}$", 200, times=100, body=body))
    ran = setup.doctor(DIGEST_REPOS="o/n,o/none,o/n@gone,o/secret,o/listed", DIGEST_PRIVATE="o/listed=C0DIGEST")
    assert ran.code == 2
    assert list(wrong(ran)) == ["repository o/none", "repository o/n@gone", "repository o/secret"]
    assert "DIGEST_PRIVATE=o/secret=C" in wrong(ran)["repository o/secret"]
    assert "C0DIGEST" in right(ran)["repository o/listed"]


def test_a_private_repository_that_its_channel_may_not_see(setup: Setup) -> None:
    """Where a channel of DIGEST_CHANNEL is not among those that may see a repository of DIGEST_REPOS, both settings are named."""
    listed = {"DIGEST_REPOS": "o/n", "DIGEST_CHANNEL": "C0DIGEST"}
    ran = setup.doctor(**listed, DIGEST_PRIVATE="o/n=C0OPS")
    assert (ran.code, list(wrong(ran))) == (2, ["repository o/n"])
    assert "kept from C0DIGEST of DIGEST_CHANNEL" in wrong(ran)["repository o/n"]
    assert "DIGEST_PRIVATE" in wrong(ran)["repository o/n"]
    assert not wrong(setup.doctor(**listed, DIGEST_PRIVATE="o/n=C0DIGEST+C0OPS"))


def test_silent_services_are_not_waited_for_long(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where everything takes a connection and says nothing, it is over long before each would be waited for in turn."""
    with closing(create_server(("127.0.0.1", 0))) as silent:
        nowhere = f"http://127.0.0.1:{silent.getsockname()[1]}"
        services = {"GITHUB_API_URL": nowhere, "SLACK_API_URL": nowhere, "OPENAI_BASE_URL": f"{nowhere}/v1"}
        for name, value in setup.settings(DIGEST_REPOS="o/n,o/m", **services).items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(setup.folder)
        begun = time.monotonic()
        found = {each.name: each for each in findings(lambda: datetime.now(UTC)) if each.exit_code}
    assert time.monotonic() - begun < 40  # one after the other and tried anew they would be over a minute
    assert list(found) == ["GitHub", "Slack bot token", "Slack app token", "model"]
    assert {each.exit_code for each in found.values()} == {3}


def test_services_that_do_not_answer(setup: Setup) -> None:
    """Each service is named once, with what to look at; what depends on it is not tried, and the configuration is not blamed."""
    nowhere = "http://127.0.0.1:9"
    ran = setup.doctor(
        GITHUB_API_URL=nowhere, SLACK_API_URL=f"{nowhere}/api/", OPENAI_BASE_URL=f"{nowhere}/v1", LOG_LEVEL="error"
    )
    assert ran.code == 3
    assert list(wrong(ran)) == ["GitHub", "Slack bot token", "Slack app token", "model"]
    assert len(ran.err.splitlines()) == 1
    assert "– repository o/n: not checked, since GitHub failed" in ran.out
    assert "SLACK_API_URL" in wrong(ran)["Slack bot token"]
    assert "SLACK_API_URL" in wrong(ran)["Slack app token"]


def test_prices_that_nobody_knows(setup: Setup) -> None:
    """For a model without published prices it is said that the budget does not limit it."""
    assert "the budget does not limit it" in right(setup.doctor(DIGEST_MODEL="my-own"))["model"]


def test_an_install_for_a_whole_organisation(setup: Setup) -> None:
    """An install into an organisation of several workspaces is said to be not supported."""
    with OrganisationSlack(scopes=manifest().scopes) as slack:
        ran = setup._replace(slack=slack).doctor()
    assert (ran.code, list(wrong(ran))) == (2, ["Slack bot token"])
    assert "whole organisation" in wrong(ran)["Slack bot token"]


@pytest.mark.parametrize(("seconds", "told"), [(-90, "behind"), (90, "ahead of"), (40, "")])
def test_a_clock_that_goes_wrong(setup: Setup, monkeypatch: pytest.MonkeyPatch, seconds: int, told: str) -> None:
    """A clock that is over a minute off Slack's is named with its error."""
    for name, value in setup.settings(GITHUB_API_URL=setup.github.url, DIGEST_REPOS="o/n").items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(setup.folder)
    found = {each.name: each for each in findings(lambda: datetime.now(UTC) + timedelta(seconds=seconds))}
    assert found["clock"].exit_code == (2 if told else 0)
    assert told in found["clock"].message


def test_colours_are_for_terminals(setup: Setup) -> None:
    """In a pipe there are no colours and no broken lines, whatever the width is said to be."""
    ran = setup.doctor(COLUMNS="20", TERM="xterm-256color", SLACK_BOT_TOKEN="")
    assert ran.err == "vllm-digest: 1 of 11 checks failed; each line with ✗ says what to do\n"
    assert "\x1b" not in ran.out
    assert all(line.startswith(("✓ ", "✗ ")) for line in ran.out.splitlines())
