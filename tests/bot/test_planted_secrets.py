"""Secrets planted in whatever GitHub, a model and Slack send: none is in a log, and what a commit gives away is in no prompt."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count, cycle
from pathlib import Path
from random import Random
from string import ascii_letters, digits
from typing import Any

import pytest
from sqlalchemy import create_engine, inspect
from sqlalchemy.pool import NullPool

from bot.store import Store, open_engine
from bot.store.lease import flows_url
from loopback.github import RecordedRepository
from loopback.http_server import Loopback, QuietHandler
from loopback.slack import Fault as SlackFault
from loopback.slack import LoopbackSlack
from loopback.slack.server import Reply
from tests.conftest import Run, recorded
from tests.planted import planted
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.launched import begun
from tests.servers.plugin import PLUGIN, plugin, upstream
from tests.servers.running import bot_database, posted, press, whole
from tests.servers.talk import ADA, DIGEST, Talk

Serve = Callable[..., FaultyGitHub]

KEY = "".join(Random(12).choices(ascii_letters + digits, k=40))
MARK = "Planted-0451"  # stands in every text that is sent, and is no secret by its form
COMMANDS = [
    ("digest", "2026-02-05"),
    ("digest", "2026-02-05", "--no-model", "--format", "json"),
    ("commit", "#1"),
    ("ask", "#1", f"where does connect get its key? {MARK}"),
    ("backfill", "2026-02-05..2026-02-05"),
]


def planted_commit() -> dict[str, Any]:
    """A commit that says in one place what the key is, and holds it in all others."""
    files = [
        {
            "filename": "pkg/client.py",
            "status": "modified",
            "additions": 1,
            "deletions": 0,
            "patch": f'@@ -1 +1,2 @@\n def run():\n+    connect("{KEY}")  # {MARK}',
        },
        {
            "filename": f"pkg/{KEY}.py",
            "previous_filename": f"old/{KEY}-{MARK}.py",
            "status": "renamed",
            "additions": 1,
            "deletions": 1,
            "patch": f"@@ -1 +1 @@\n-AWS_SECRET_ACCESS_KEY={KEY}\n+AWS_SECRET_ACCESS_KEY=",
        },
    ]
    date = "2026-02-05T12:00:00Z"
    return recorded(
        1,
        message=f"[Core] Connect with {KEY} (#1)\n\n{MARK}",
        author={"name": f"Ada {KEY} {MARK}", "date": date},
        committer={"name": f"GitHub {MARK}", "date": date},
        files=files,
        pull={"number": 1, "title": f"Connect with {KEY}", "body": f"## Purpose\n\nIt takes {KEY}. {MARK}"},
    )


def commit_of_every_kind() -> dict[str, Any]:
    """A commit with a secret of each kind in a patch, its message and its pull request."""
    text = "\n".join(each.text for each in planted().values())
    lines = text.split("\n")
    patch = "\n".join([f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)])
    made = {"filename": "pkg/a.env", "status": "added", "additions": len(lines), "deletions": 0, "patch": patch}
    pull = {"number": 1, "title": "Configure it", "body": text}
    return recorded(1, message=f"[Core] Configure it (#1)\n\n{text}", files=[made], pull=pull)


class PlantingChat(Loopback):
    """Refuses every second request with an error that quotes it, and answers the others with nonsense."""

    def __init__(self) -> None:
        self.bodies: list[str] = []
        numbers = count()
        outer = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                outer.bodies.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
                refused = next(numbers) % 2 == 0
                choice = {"index": 0, "delta": {"content": f"{MARK} is no form"}, "finish_reason": MARK}
                chunk = {"id": MARK, "object": "chat.completion.chunk", "created": 1, "model": MARK}
                stream = f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\ndata: [DONE]\n\n"
                error = json.dumps({"error": {"message": MARK, "type": MARK, "code": MARK}})
                self.send_response(400 if refused else 200)
                self.send_header("Content-Type", "application/json" if refused else "text/event-stream")
                self.send_header("X-Request-Id", MARK)
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write((error if refused else stream).encode())
                self.close_connection = True

        super().__init__(Handler)


class PlantingSlack(LoopbackSlack):
    """Adds the mark to each of its answers."""

    def api(self, method: str, params: dict[str, Any], token: str | None) -> Reply:
        reply = super().api(method, params, token)
        return reply._replace(
            body=reply.body | {"needed": MARK, "warning": MARK, "response_metadata": {"messages": [MARK]}},
            headers={**reply.headers, "X-Slack-Req-Id": MARK},
        )


@pytest.fixture
def chat() -> Iterator[PlantingChat]:
    with PlantingChat() as running:
        yield running


def settings(chat: PlantingChat, **more: str) -> dict[str, str]:
    return {
        "LOG_LEVEL": "debug",
        "GITHUB_TOKEN": f"ghp-{MARK}",
        "DIGEST_MODEL": "scripted",
        "OPENAI_BASE_URL": f"{chat.url}/v1",
        "OPENAI_API_KEY": f"sk-{MARK}",
        "OPENAI_LOG": "debug",
        **more,
    }


def kept(folder: Path) -> str:
    """The commit as it was stored, patches and all."""
    with closing(Store(open_engine(f"sqlite:///{folder / 'data' / 'digest.db'}"))) as store:
        return "".join(
            found.commit.model_dump_json()
            for _, key in store.with_sha(planted_commit()["sha"])
            for found in store.commits([key], patches=True)
        )


@pytest.mark.parametrize(("arguments", "form"), [*zip(COMMANDS, cycle(("console", "json")), strict=False)])
def test_a_command_logs_nothing_that_was_sent(
    arguments: tuple[str, ...], form: str, run: Run, serve: Serve, chat: PlantingChat, tmp_path: Path
) -> None:
    """At LOG_LEVEL=debug standard error holds nothing of GitHub's and the model's replies; the key is nowhere at all."""
    server = serve(planted_commit())
    ran = run(*arguments, server=server, **settings(chat, LOG_FORMAT=form))
    assert server.requests
    assert MARK not in ran.err
    assert KEY not in ran.err + ran.out + "".join(chat.bodies)
    assert KEY not in kept(tmp_path)
    assert "[REDACTED:1]" in kept(tmp_path)
    assert arguments[0] != "ask" or "answered" in ran.err
    assert bool(chat.bodies) is ("--no-model" not in arguments)


def test_no_secret_of_any_kind_is_kept(run: Run, serve: Serve, chat: PlantingChat, tmp_path: Path) -> None:
    """Of a commit with a secret of each kind in a patch, its message and its pull request none is printed, logged, sent to a model or stored."""
    server = serve(commit_of_every_kind())
    ran = run("digest", "2026-02-05", server=server, **settings(chat))
    assert chat.bodies
    seen = ran.err + ran.out + "".join(chat.bodies) + tables(f"sqlite:///{tmp_path / 'data' / 'digest.db'}")
    assert "[REDACTED:20]" in seen
    for kind, (_, secret) in planted().items():
        assert secret not in seen, kind


@pytest.mark.parametrize("status", [400, 401, 403, 404, 418])
def test_a_refusal_is_logged_without_its_words(status: int, run: Run, serve: Serve, chat: PlantingChat) -> None:
    """GitHub's errors are told in one line of ours, whatever stands in them."""
    server = serve(planted_commit())
    server.faults = [Fault("/repos/", status, times=99, headers={"X-Planted": MARK}, body={"message": MARK})]
    ran = run("digest", "2026-02-05", server=server, **settings(chat))
    assert ran.err.startswith("vllm-digest: ")
    assert ran.err.count("\n") == 1
    assert MARK not in ran.err + ran.out


def test_doctor_logs_nothing_that_was_sent(run: Run, serve: Serve, chat: PlantingChat) -> None:
    """`doctor` at LOG_LEVEL=debug tells neither Slack's nor a model's words, of refusals as little as of answers."""
    with PlantingSlack(scopes=["chat:write"]) as slack:
        slack.faults.append(SlackFault("conversations.info", "error", error=MARK))
        tokens = {"SLACK_BOT_TOKEN": slack.bot_token, "SLACK_APP_TOKEN": slack.app_token, "SLACK_API_URL": slack.url}
        ran = run("doctor", server=serve(planted_commit()), DIGEST_CHANNEL="C0DIGEST", **settings(chat, **tokens))
    assert "✗ channel C0DIGEST" in ran.out
    assert MARK not in ran.err + ran.out


@pytest.mark.parametrize("form", ["console", "json"])
def test_the_bot_logs_nothing_that_was_sent(form: str, serve: Serve, chat: PlantingChat, tmp_path: Path) -> None:
    """At LOG_LEVEL=debug the bot's log holds nothing of what people, Slack, GitHub and the model say, nor a token."""
    log, environment = tmp_path / "bot.log", {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    with PlantingSlack(bot_token=f"xoxb-{MARK}", app_token=f"xapp-{MARK}", pace=False) as slack:
        environment |= settings(
            chat,
            LOG_FORMAT=form,
            GITHUB_API_URL=serve(planted_commit()).url,
            SLACK_BOT_TOKEN=slack.bot_token,
            SLACK_APP_TOKEN=slack.app_token,
            SLACK_API_URL=slack.url,
            DIGEST_REPOS="o/n",
            DIGEST_LANGUAGE="en",
        )
        bot = begun(["run", "--metrics-port", "0"], tmp_path, environment, [Path(os.devnull), log, log])
        try:
            slack.wait_for(lambda: slack.connected)
            slack.faults.append(SlackFault("chat.postMessage", "error", error=MARK))
            slack.say(ADA, slack.workspace.dm(ADA), f"{MARK} help")
            slack.command(ADA, "C0DIGEST", f"search {MARK}")
            slack.command(ADA, "C0DIGEST", "#1")
            slack.wait_for(lambda: [each for each in slack.private(ADA, "C0DIGEST") if "REDACTED" in each.text])
            slack.say(ADA, slack.workspace.dm(ADA), f"#1 where does connect get its key? {MARK}")
            slack.wait_for(lambda: "answered" in log.read_text("utf-8"))
            slack.drop_sockets()
            slack.wait_for(lambda: slack.connected)
        finally:
            if bot.pid and bot.exitcode is None:
                os.kill(bot.pid, signal.SIGTERM)
            bot.join(60)
    told = log.read_text("utf-8")
    assert all(word in told for word in ("connecting", "asked", "answered"))
    assert MARK not in told
    assert KEY not in told + "".join(chat.bodies)
    assert KEY not in kept(tmp_path)


def tables(database_url: str, *, without: tuple[str, ...] = ()) -> str:
    """All that stands in a database, but for some tables."""
    engine = create_engine(database_url, poolclass=NullPool)
    with engine.connect() as connection:
        seen = inspect(connection)
        names = [(schema, name) for schema in seen.get_schema_names() for name in seen.get_table_names(schema)]
        found = [
            connection.exec_driver_sql(f'select * from "{schema}"."{name}"').all()
            for schema, name in names
            if schema != "information_schema" and name not in without
        ]
    return repr(found)


def test_a_private_plug_ins_code_is_in_its_channel_only(
    run: Run, chat: PlantingChat, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its code is in that channel's messages and report; in no other message, no prompt, no log, no stored analysis or score, and
    not in the day's JSON.
    """
    code = {path: text.replace("start(model,", f'start("{MARK}",') for path, text in PLUGIN.items()}
    told: dict[str, list[str]] = {}
    with (
        FaultyGitHub({"o/n": upstream(), "o/plug": plugin(code)}) as github,
        LoopbackSlack(pace=False) as slack,
        Talk(
            slack,
            github.url,
            tmp_path,
            digest_mirrors=tmp_path / "mirrors",
            digest_private=f"o/plug={DIGEST}",
            digest_model="scripted",
            openai_base_url=f"{chat.url}/v1",
            openai_api_key="sk-x",
            log_level="debug",
        ) as talk,
    ):
        slack.workspace.add_channel("other", "C0OTHER", members=[ADA, "U0BOT"])
        talk.type(ADA, "subscribe downstream o/plug")
        root = talk.open("2026-02-05")
        for channel in ("C0OTHER", talk.direct(ADA)):
            slack.command(ADA, channel, "2026-02-05")
            slack.command(ADA, channel, "subscriptions")
        press(slack, ADA, DIGEST, root, "full_report")
        talk.finish(slack.open_home(ADA))
        start = posted(slack, DIGEST)[-1].ts
        talk.reply(ADA, "<@U0BOT> does this break us?", start)
        talk.reply(ADA, "<@U0BOT> why, and what else?", start)
        for message in talk.everything():
            told.setdefault(message.channel, []).append(whole(message))
        private = [whole(each) for channel in ("C0OTHER", talk.direct(ADA)) for each in slack.private(ADA, channel)]
        files = [(file.content or b"").decode() for file in slack.workspace.files.values()]
        home = str(slack.home(ADA))
    assert MARK in "".join(told.pop(DIGEST))
    assert sorted(MARK in text for text in files) == [False, True]
    for elsewhere in (str(told), str(private), home, "".join(chat.bodies)):
        assert MARK not in elsewhere
        assert "o/plug" not in elsewhere
    assert chat.bodies
    assert MARK not in capfd.readouterr().err
    url = bot_database(tmp_path)
    assert MARK not in tables(url, without=("outbox",)) + tables(flows_url(url))
    json_of_day = run("digest", "2026-02-05", "--format", "json", DATABASE_URL=url)
    assert "Tidy start" in json_of_day.out
    assert MARK not in json_of_day.out
    assert "plug/run.py" not in json_of_day.out


def test_no_secret_of_any_kind_that_people_paste_is_kept(
    chat: PlantingChat, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of tracebacks, logs, questions and a commit with a secret of each kind none is in Slack's messages and files, a prompt, the
    log or, once answered, the store.
    """
    secrets = "\n".join(each.text for each in planted().values())
    failure = (
        f'Traceback (most recent call last):\n  File "/app/engine/core.py", line 6, in stop\nRuntimeError: {secrets}\n'
    )
    with (
        FaultyGitHub({"o/n": upstream(), "o/s": RecordedRepository([commit_of_every_kind()])}) as github,
        LoopbackSlack(pace=False) as slack,
        Talk(
            slack,
            github.url,
            tmp_path,
            digest_repos="o/n,o/s",
            digest_model="scripted",
            openai_base_url=f"{chat.url}/v1",
            openai_api_key="sk-x",
            log_level="debug",
        ) as talk,
    ):
        root = talk.open([*upstream().commits][3])
        for said in (
            failure,
            f"suspects {failure}",
            f"why does it say this?\n{failure}",
            f"is this safe with\n{secrets}",
        ):
            talk.replies(talk.say(ADA, f"<@U0BOT> {said}", root))
            talk.replies(talk.say(ADA, said, channel=talk.direct(ADA)))
            talk.type(ADA, said)
        talk.replies(slack.say(ADA, DIGEST, "<@U0BOT>", files={"build.log": failure.encode()}))
        talk.ask_in_modal(ADA, root, "ask_commit", f"why?\n{secrets}")
        talk.reply(ADA, "<@U0BOT> o/s #1 what is configured?", talk.open("o/s 2026-02-05"))
        answers = [whole(each) for each in talk.everything()]
        answers += [whole(each) for channel in (DIGEST, talk.direct(ADA)) for each in slack.private(ADA, channel)]
        answers += [
            (file.content or b"").decode() for file in slack.workspace.files.values() if file.name != "build.log"
        ]
        talk.settle()
    assert chat.bodies
    assert all(word in "".join(answers) for word in ("Configure it", "[REDACTED:"))
    url = bot_database(tmp_path)
    seen = {
        "answers": "\n".join(answers),
        "prompts": "".join(chat.bodies),
        "log": capfd.readouterr().err,
        "store": tables(url) + tables(flows_url(url)),
    }
    found = [(kind, place) for kind, (_, secret) in planted().items() for place, text in seen.items() if secret in text]
    assert found == []


@pytest.mark.parametrize("allowed", [False, True])
def test_a_private_repositorys_commits_are_for_no_model(allowed: bool, chat: PlantingChat, tmp_path: Path) -> None:
    """Its day and a question about it are answered by rules, unless the operator lets the model read it."""
    commit = recorded(9, message=f"[Core] Start {MARK} (#9)")
    with (
        FaultyGitHub({"o/n": upstream(), "o/secret": RecordedRepository([commit])}) as github,
        LoopbackSlack(pace=False) as slack,
        Talk(
            slack,
            github.url,
            tmp_path,
            digest_repos="o/n,o/secret",
            digest_private=f"o/secret={DIGEST}",
            digest_private_to_model=allowed,
            digest_model="scripted",
            openai_base_url=f"{chat.url}/v1",
            openai_api_key="sk-x",
        ) as talk,
    ):
        talk.type(ADA, "o/secret 2026-02-05")
        talk.replies(talk.say(ADA, "<@U0BOT> o/secret #9 why does it start?"))
    assert (MARK in "".join(chat.bodies)) is allowed
