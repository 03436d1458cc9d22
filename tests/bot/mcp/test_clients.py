"""The MCP server as agents meet it: the official client over both transports, with what they may and may not see."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from analysis.models import Repository
from analysis.sources.github import GitHub
from bot.models.subjects import DayRef
from bot.services.factory import Services
from bot.store import Store, open_engine
from loopback.github import RecordedRepository
from loopback.sample import SAMPLE_DAY, SAMPLE_PLUGIN, SAMPLE_REPOSITORY, sample_repositories
from loopback.slack import LoopbackSlack
from tests.conftest import recorded
from tests.data import hostile_sample
from tests.servers.clock import noon_clock
from tests.servers.github import FaultyGitHub
from tests.servers.mcp_clients import Call, OverHttp, OverStdio, called, error_of, forget_limits, used, value_of
from tests.servers.running import bot_database, bot_running

TOKEN = "made-up-token-of-the-operator"
DAY = SAMPLE_DAY.isoformat()
SECRET, NOWHERE = "o/secret", "o/nowhere"
ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
Server = OverStdio | OverHttp


class Site(NamedTuple):
    """A store and a bot on it, for clients of either kind."""

    stdio: OverStdio
    http: OverHttp
    folders: tuple[Path, Path]


@pytest.fixture(scope="module")
def github() -> Iterator[FaultyGitHub]:
    secret = RecordedRepository([recorded(9, message="[Core] Paint the zebra (#9)")])
    with FaultyGitHub({**sample_repositories(), SAMPLE_REPOSITORY: hostile_sample(), SECRET: secret}) as server:
        yield server


@pytest.fixture(scope="module")
def site(github: FaultyGitHub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folders = [tmp_path_factory.mktemp(name) for name in ("stdio", "http")]
    for each in folders:
        _store_days(github, each)
    settings = {
        "digest_repos": SAMPLE_REPOSITORY,
        "digest_private": f"{SECRET}=C0OTHER",
        "digest_downstream": SAMPLE_PLUGIN,
    }
    environment = {
        **{name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")},
        **{name.upper(): value for name, value in settings.items()},
        "PYTHONPATH": str(Path(__file__).parents[3]),
        "DATABASE_URL": bot_database(folders[0]),
        "GITHUB_API_URL": github.url,
        "GITHUB_TOKEN": "token",
        "DIGEST_TIMEZONE": "UTC",
        "DIGEST_LANGUAGE": "en",
    }
    with (
        LoopbackSlack() as slack,
        bot_running(
            slack,
            github.url,
            folders[1],
            http=True,
            now=noon_clock(),
            digest_mcp_token=TOKEN,
            digest_mirrors=folders[1] / "mirrors",
            **settings,
        ),
    ):
        url = str(slack.delivery.deliver_to).replace("/slack/events", "/mcp")
        stdio = OverStdio(folders[0], environment)
        yield Site(stdio, OverHttp(url, TOKEN), (folders[0], folders[1]))


def _store_days(github: FaultyGitHub, folder: Path) -> None:
    """The sample day, and a day of a repository that is private for these clients."""
    store, source = Store(open_engine(bot_database(folder))), GitHub(github.url, "token")
    with closing(store), closing(source):
        for name in (SAMPLE_REPOSITORY, SECRET):
            ref = DayRef(Repository.parse(name), SAMPLE_DAY, "UTC", "en")
            Services(source, store).digests.report(ref, noon_clock()())


@pytest.fixture(params=["stdio", "http"])
def server(request: pytest.FixtureRequest, site: Site) -> Server:
    return site.stdio if request.param == "stdio" else site.http


@pytest.fixture(autouse=True)
def _limits(site: Site) -> None:
    """No test finds the limits used up by an earlier one."""
    for each in site.folders:
        forget_limits(each)


# Tools


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_answers(server: Server, mode: str) -> None:
    """Each tool returns what its command does, marked as untrusted, as text and as the value that its schema describes."""
    sha = _sha("[Kernel]")
    seen = used(
        server,
        ("digest", {"date": DAY}),
        ("commit", {"reference": sha[:12]}),
        ("search", {"words": "kernel", "limit": 2}),
        ("impact", {"reference": DAY}),
        ("compat", {}),
        ("suspects", {"text": "WorkerBase has no attribute warm_cache", "until": "2026-02-06"}),
        ("ask", {"question": "which commits touch the cache?", "reference": DAY}),
        mode=mode,
    )
    names = ["digest", "commit", "search", "impact", "compat", "suspects", "ask"]
    assert [each.name for each in seen.tools.tools] == names
    assert all(each.annotations and each.annotations.read_only_hint for each in seen.tools.tools)
    digest, commit, search, impact, compat, suspects, answer = values = list(map(value_of, seen.results))
    for result, value in zip(seen.results, values, strict=True):
        assert "untrusted" in value["notice"]
        assert result.content[0].type == "text"
        assert json.loads(result.content[0].text) == value
    assert digest["stats"]["total"] == len(digest["commits"]) + len(digest["others"])
    assert digest["commits"][0]["facts"] is not None
    assert commit["sha"] == sha
    assert len(search["commits"]) == 2
    assert impact["commits"][0]["impacts"][0]["downstream"]["repo"] == SAMPLE_PLUGIN
    [compared] = compat["reports"]
    assert (compared["downstream"]["repo"], compared["from"]) == (SAMPLE_PLUGIN, None)  # without tags it is unknown
    assert suspects["suspects"][0]["why"]
    assert answer["statements"][0]["text"]


def _sha(title: str) -> str:
    return str(next(sha for sha, each in hostile_sample().commits.items() if each["message"].startswith(title)))


# Arguments


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("digest", {"date": "someday"}), "'someday' is not a date; use 2026-02-05, today, yesterday, -3 or mon"),
        (("digest", {"date": 5}), "date: input should be a valid string"),
        (("digest", {"repo": "o/n"}), "digest has no argument 'repo'; it takes repository, date"),
        (("commit", {}), "reference: field required"),
        (("commit", {"reference": "feature"}), "'feature' is not a commit; use a SHA of at least 4 digits"),
        (("commit", {"reference": "0123456789"}), "no commit 0123456789"),
        (("search", {"words": " "}), "no words to search for"),
        (("search", {"words": "x", "limit": 1000}), "limit: input should be less than or equal to 50"),
        (("impact", {"reference": "2026-01-01..2026-02-05"}), "a range is at most 31 days; use 2026-01-01..2026-01-31"),
        (("suspects", {"text": ""}), "the text is empty"),
        (("suspects", {"text": "x", "days": 0}), "days: input should be greater than or equal to 1"),
        (("ask", {"question": ""}), "the question is empty"),
        (("no_tool", {}), "Unknown tool"),
    ],
)
def test_bad_arguments_are_told_in_a_sentence(site: Site, call: Call, words: str) -> None:
    """What is wrong with an argument is one line, with a valid form where there is one, and never a traceback."""
    [result] = called(site.http, call)
    said = error_of(result)
    assert words in said
    assert "\n" not in said
    assert "Traceback" not in said


# Text of others


def test_hostile_text_comes_as_harmless_data(server: Server) -> None:
    """No control character of a commit survives, what a commit orders moves no rank, and its text is in fields of its own."""
    [digest, commit, found] = called(
        server,
        ("digest", {"date": DAY}),
        ("commit", {"reference": _sha("[Bugfix] \x1b")}),
        ("search", {"words": "previous instructions"}),
    )
    for result in (digest, commit, found):
        assert not ACTIVE.search(_strings(value_of(result)))
        assert not ACTIVE.search(str(result.content))
    rows = {each["title"]: each for each in value_of(digest)["others"]}
    assert rows["[Docs] Fix a typo in troubleshooting (#425)"]["importance"] == "low"
    assert "␛[31mStrip" in value_of(commit)["title"]
    assert value_of(found)["commits"]


def _strings(value: Any) -> str:
    """All texts of a value."""
    if isinstance(value, Mapping):
        return "\n".join(map(_strings, [*value.keys(), *value.values()]))
    return "\n".join(map(_strings, value)) if isinstance(value, list) else str(value)


# Private repositories


def test_a_private_repository_does_not_exist(server: Server) -> None:
    """In no tool does a private repository differ from one that does not exist, and no search or SHA finds its commits."""
    sha = "09" * 20

    def calls(name: str) -> list[Call]:
        return [
            ("digest", {"repository": name, "date": DAY}),
            ("commit", {"repository": name, "reference": sha}),
            ("commit", {"reference": f"https://github.example/{name}/commit/{sha}"}),
            ("search", {"repository": name, "words": "zebra"}),
            ("impact", {"repository": name, "reference": DAY}),
            ("impact", {"reference": DAY, "downstream": [name]}),
            ("suspects", {"repository": name, "text": "zebra", "until": "2026-02-06"}),
            ("ask", {"question": "what changed?", "reference": name}),
        ]

    if isinstance(server, OverHttp):  # where no other repository may be named
        hidden, missing = (list(map(error_of, called(server, *calls(name)))) for name in (SECRET, NOWHERE))
        assert hidden == missing
    else:
        hidden = list(map(error_of, called(server, *calls(SECRET))))
    assert set(hidden) == {f"no such repository or branch is available here; followed are: {SAMPLE_REPOSITORY}"}
    search, commit = called(server, ("search", {"words": "zebra"}), ("commit", {"reference": sha}))
    assert value_of(search)["commits"] == []
    assert "0909" in error_of(commit)


def test_a_command_says_the_same_of_a_repository_that_is_not_there(site: Site) -> None:
    """On standard input and output any repository may be named, and one that GitHub does not have is as a private one."""
    [result] = called(site.stdio, ("digest", {"repository": NOWHERE, "date": DAY}))
    assert error_of(result) == f"no such repository or branch is available here; followed are: {SAMPLE_REPOSITORY}"


def test_an_operator_may_show_private_repositories(site: Site) -> None:
    """With DIGEST_MCP_PRIVATE a private repository that DIGEST_PRIVATE lists is there."""
    server = site.stdio._replace(environment={**site.stdio.environment, "DIGEST_MCP_PRIVATE": "true"})
    [found] = called(server, ("search", {"words": "zebra", "repository": SECRET}))
    assert [each["title"] for each in value_of(found)["commits"]] == ["[Core] Paint the zebra (#9)"]


def test_over_http_no_folder_is_read(site: Site) -> None:
    """The operator's files are no downstream code for those who call from elsewhere."""
    [found] = called(site.http, ("impact", {"reference": DAY, "downstream": ["/etc"]}))
    assert error_of(found) == "'/etc' is not a repository; use owner/name or owner/name@branch"


# Limits


def test_a_client_is_limited(server: Server) -> None:
    """After twenty calls in a moment, and ten questions more slowly, a client has to wait."""
    # Twice as many as a moment allows: while they are asked, on a slow machine, the limit lets some more pass.
    refused = [error_of(each) for each in called(server, *[("commit", {"reference": "-"})] * 40)]
    limited = [each == "limit: 20 requests a minute; try again shortly" for each in refused]
    assert refused[0].startswith("'-' is not a commit")
    assert any(limited)
    assert not any(limited[:20])


def test_a_question_costs_no_more_than_the_budget(site: Site, tmp_path: Path) -> None:
    """Once the day's budget is used up a question is answered by rules, and no model is asked."""
    poor = {"DIGEST_MODEL": "gpt-4o", "OPENAI_API_KEY": "k", "DIGEST_DAILY_BUDGET_USD": "0", "LOG_LEVEL": "info"}
    server = site.stdio._replace(folder=tmp_path, environment={**site.stdio.environment, **poor})
    [answer] = called(server, ("ask", {"question": "does this touch the cache?", "reference": _sha("[Kernel]")}))
    assert value_of(answer)["statements"]
    assert "calls=0" in server.log.read_text("utf-8")
    assert "today's budget is used up" in server.log.read_text("utf-8")


# Standard output


def test_standard_output_has_the_protocol_alone(site: Site) -> None:
    """Whatever comes in, and however much is logged, each line on standard output is a message of the protocol."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        "no json",
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "tools/call",
                "params": {"name": "digest", "arguments": {"date": DAY}},
            }
        ),
    ]
    environment = {**site.stdio.environment, "LOG_LEVEL": "debug"}
    process = subprocess.Popen(
        [sys.executable, "-m", "bot", "mcp"],
        cwd=site.stdio.folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("\n".join(lines) + "\n")
        process.stdin.flush()
        answered: list[dict[str, Any]] = []
        while not any(each.get("id") == 2 for each in answered):
            answered.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        rest = process.stdout.read()
    assert all(each["jsonrpc"] == "2.0" for each in answered)
    assert rest == ""
    assert process.returncode == 0
