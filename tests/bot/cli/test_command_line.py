"""The command line as a person or a script meets it: results on standard output, one line when something fails, the right exit code."""

import json
import os
import re
import signal
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.conftest import Run, recorded
from tests.data import commit_lines
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.launched import begun

Serve = Callable[..., FaultyGitHub]


def one_line(err: str) -> str:
    """What a failed command says: exactly one line, which says who speaks and is no traceback."""
    assert err.startswith("vllm-digest: "), err
    assert err.endswith("\n")
    assert err.count("\n") == 1, err
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("digest", "2026-13-01"), "is not a date of the calendar"),
        (("digest", "2999-01-01"), "future"),
        (("digest", "--unknown"), "--unknown"),
        (("digest", "2026-02-05", "--lng", "en"), "--lng (Possible options: --lang)"),
        (("upgrade", "--lng=en"), "--lng (Possible options: --lang)"),
        (("backfill", "-3x"), "'-3x'"),
        (("ask", "abc", "--flag is gone?"), "'abc'"),  # a question, not an option
        (("digest", "2026-02-05", "2026-02-06"), "unexpected"),
        (("digest", "2026-02-05", "--repo", "nonsense"), "owner/name"),
        (("digest", "2026-02-05", "--lang", "fr"), "--lang"),
        (
            ("digest", "2026-02-05", "--format", "xml"),
            "--format: 'xml' is not supported; use terminal, markdown, json or slack",
        ),
        (("suspects", "x", "--days", "0"), "--days: must be at least 1"),
        (("digest", "2026-02-05", "--timezone", "Mars/Olympus"), "unknown time zone"),
        (("digest", "2026-02-05", "--timezone", "../etc/passwd"), "unknown time zone"),
        (("digest", "--sample", "--out", "no/such/folder/x.md"), "cannot be written"),
        (("digest", "--sample", "--repo", "acme/engine"), "leave out --repo"),
        (("backfill", "2026-02-05..2026-02-01"), "ends before it begins"),
        (("backfill", "2026-02-05.."), "not a range"),
        (("commit", "zzz"), "is not a commit"),
        (("search", "words"), "store is empty"),
        (("search", *["x"] * 1000), "at most 50 words"),
        (("search", "--enforce-eager"), "write -- before words that begin with a dash"),
        (("search", " "), "give the words to search for"),
        (("suspects", ""), "give a file, a sentence in quotes"),
        (("rank", "no-such-file.jsonl"), "cannot be read"),
        (("nonsense",), "nonsense"),
        (("commit",), "REF"),
    ],
)
def test_a_wrong_command_is_one_line_and_exit_2(arguments: tuple[str, ...], words: str, run: Run) -> None:
    """What cannot be right is said in one line on standard error, with nothing on standard output."""
    ran = run(*arguments)
    assert words in one_line(ran.err)
    assert (ran.code, ran.out) == (2, "")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"DIGEST_TIMEZONE": "Nowhere"}, "DIGEST_TIMEZONE: unknown time zone"),
        ({"DIGEST_LANGUAGE": "fr"}, "DIGEST_LANGUAGE"),
        ({"DIGEST_REPOS": "a/b,c"}, "DIGEST_REPOS: 'c' is not a repository"),
        ({"GITHUB_API_URL": "ftp://x"}, "GITHUB_API_URL: is not a valid URL"),
        ({"SLACK_API_URL": "https://slack%2ecom/api"}, "SLACK_API_URL: is not a valid URL"),
        ({"SLACK_API_URL": "https://slack.com\\.host/api"}, "SLACK_API_URL: is not a valid URL"),
        ({"SLACK_API_URL": "https://slack.com\n.host/api"}, "SLACK_API_URL: is not a valid URL"),
        ({"GITHUB_API_URL": "https://me:hunter2@host"}, "GITHUB_API_URL: contains a password"),
        ({"DATABASE_URL": "nonsense://u:hunter2@h/x"}, "DATABASE_URL"),
        (
            {"DATABASE_URL": "nonsense"},
            "is not a valid database URL; use sqlite:///data/digest.db or postgresql+psycopg",
        ),
        (
            {"DATABASE_URL": "mysql://u:hunter2@h/x"},
            "DATABASE_URL: 'mysql' databases are not supported; use sqlite:///",
        ),
        ({"DATABASE_URL": "postgres://u:hunter2@h/x"}, "DATABASE_URL: use postgresql+psycopg://user:password@host"),
        ({"DATABASE_URL": "postgresql+psycopg://u:hunter2@h/x?pw=hunter2"}, "is no option of PostgreSQL's"),
        ({"DATABASE_URL": "sqlite://data/digest.db"}, "three slashes"),
        ({"DATABASE_URL": "sqlite:////proc/none/digest.db"}, "DATABASE_URL: folder /proc/none does not exist"),
        ({"LOG_LEVEL": "loud"}, "LOG_LEVEL: is not a log level"),
        ({"GITHUB_API_URL": "http://127.0.0.1:99999"}, "GITHUB_API_URL"),
        ({"GITHUB_TOKEN": "two words"}, "GITHUB_TOKEN"),
        ({"OPENAI_BASE_URL": "nowhere", "DIGEST_MODEL": "x"}, "OPENAI_BASE_URL"),
        ({"DIGEST_CONCURRENCY": "0"}, "DIGEST_CONCURRENCY"),
        ({"DIGEST_DAILY_BUDGET_USD": "-1"}, "DIGEST_DAILY_BUDGET_USD"),
    ],
)
def test_a_wrong_setting_is_named(settings: dict[str, str], words: str, run: Run) -> None:
    """A wrong setting is named with its reason, exit 2, and no password is shown."""
    ran = run("digest", "2026-02-05", **settings)
    assert words in one_line(ran.err)
    assert "hunter2" not in ran.err + ran.out
    assert ran.code == 2


def test_an_unknown_setting_is_named_and_stops_nothing(run: Run, tmp_path: Path) -> None:
    """What may be a typing error is named with the setting that it is near to, wherever it stands, and never its value."""
    (tmp_path / ".env").write_text("DIGEST_LNG=hunter2\nexport DIGEST_CHANELL=hunter2\nOTHER=1\n")
    ran = run("digest", "--sample", DIGEST_PRIVAT="hunter2", digest_publish_to="x", DIGEST_WINDOW_XYZ="1")
    assert ran.code == 0
    assert ran.err.splitlines() == [
        "vllm-digest: DIGEST_CHANELL is not a setting; did you mean DIGEST_CHANNEL?",
        "vllm-digest: DIGEST_LNG is not a setting; did you mean DIGEST_LANGUAGE?",
        "vllm-digest: DIGEST_PRIVAT is not a setting; did you mean DIGEST_PRIVATE?",
        "vllm-digest: DIGEST_PUBLISH_TO is not a setting; did you mean DIGEST_PUBLISH_TOKEN?",
        "vllm-digest: DIGEST_WINDOW_XYZ is not a setting",
    ]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("vllm-digest dig", ["digest"]),
        ("vllm-digest digest --format ", ["terminal", "markdown", "json", "slack"]),
        ("vllm-digest digest -3 --lang e", ["en"]),
    ],
)
def test_a_shell_completes_commands_and_values(typed: str, offered: list[str], run: Run) -> None:
    """The words that bash and fish ask for when Tab is pressed are those that the command takes."""
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split(" ")) - 1)}
    bash = run(_VLLM_DIGEST_COMPLETE="complete_bash", **words)
    asked = {"_TYPER_COMPLETE_ARGS": typed, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    fish = run(_VLLM_DIGEST_COMPLETE="complete_fish", **asked)
    assert bash.out.split() == [each.partition("\t")[0] for each in fish.out.splitlines()] == offered


def test_an_unreachable_server_is_exit_3(run: Run) -> None:
    """A server that does not answer is said to be unreachable, with what to check."""
    ran = run("digest", "2026-02-05", GITHUB_API_URL="http://127.0.0.1:9")
    assert "connection refused" in one_line(ran.err)
    assert "GITHUB_API_URL" in ran.err
    assert ran.code == 3


def test_a_wrong_token_is_exit_2_and_never_shown(run: Run, serve: Serve) -> None:
    """A token that GitHub refuses is a matter of configuration; the token itself is not printed."""
    server = serve(recorded(1))
    server.faults = [Fault("/commits$", 401, body={"message": "Bad credentials"})]
    ran = run("digest", "2026-02-05", server=server, GITHUB_TOKEN="hunter2secret")
    assert "GITHUB_TOKEN" in one_line(ran.err)
    assert "hunter2" not in ran.err
    assert ran.code == 2


def test_an_unknown_repository_is_exit_2(run: Run, serve: Serve) -> None:
    """A repository that GitHub does not have is named."""
    ran = run("digest", "2026-02-05", "--repo", "o/other", server=serve(recorded(1)))
    assert "no repository o/other" in one_line(ran.err)
    assert ran.code == 2


def test_an_unwritable_database_is_exit_2(run: Run, tmp_path: Path) -> None:
    """A database that is a folder, or no database at all, is one line."""
    (tmp_path / "folder").mkdir()
    assert "cannot be opened" in one_line(run("search", "x", DATABASE_URL=f"sqlite:///{tmp_path}/folder").err)
    (tmp_path / "text.db").write_text("this is no database, whatever its name says\n" * 50)
    ran = run("search", "x", DATABASE_URL=f"sqlite:///{tmp_path}/text.db")
    assert "is not a database" in one_line(ran.err)
    assert ran.code == 2


@pytest.mark.parametrize("command", ["digest", "search", "backfill", "doctor", "run"])
def test_no_folder_is_created_for_a_mistyped_database(command: str, run: Run, tmp_path: Path) -> None:
    """A database whose folder is not there is a wrong setting, named with the folder, which no command creates."""
    arguments = {"digest": ["2026-02-05"], "search": ["x"], "backfill": ["2026-02-05..2026-02-05"]}
    slack = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "SLACK_API_URL": "http://127.0.0.1:9/"}
    ran = run(command, *arguments.get(command, ()), **slack, DATABASE_URL="sqlite:///dta/deep/digest.db")
    assert "DATABASE_URL: folder dta/deep does not exist" in (ran.out if command == "doctor" else one_line(ran.err))
    assert ran.code == 2
    assert list(tmp_path.iterdir()) == []


def test_the_default_folder_is_created_where_something_is_kept(run: Run, tmp_path: Path) -> None:
    """The folder of the default database is created by a command that keeps something, and not by one that only looks."""
    for command in (("rank", "-"), ("doctor",)):
        run(*command)
        assert list(tmp_path.iterdir()) == []
    run("search", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_partly_read_day_is_printed_and_exit_3(run: Run, serve: Serve) -> None:
    """With a commit that always fails the report is there, the failure is named in it, and the exit code is 3."""
    server = serve(recorded(1), recorded(2))
    server.faults = [Fault("/commits/02", 418, times=1000)]
    ran = run("digest", "2026-02-05", "--format", "json", server=server)
    assert "1 of 2 commits could not be read" in one_line(ran.err)
    assert ran.code == 3
    report = json.loads(ran.out)
    assert report["coverage"]["failed"][0]["sha"] == "02" * 20
    assert report["commits"][0]["analysis"] is None
    again = run("digest", "2026-02-05", "--format", "markdown", server=server)
    assert "could not be read: " in again.out
    server.faults = []
    assert run("digest", "2026-02-05", server=server).code == 0


def test_several_repositories_are_an_object_a_line(run: Run, serve: Serve) -> None:
    """Each configured repository is one line of JSON; one that fails leaves the others."""
    server = serve(recorded(1))
    server.repositories["o/m"] = server.repositories["o/n"]
    ran = run("digest", "2026-02-05", "--format", "json", server=server, DIGEST_REPOS="o/n, o/m")
    assert [json.loads(line)["repo"] for line in ran.out.splitlines()] == ["o/n", "o/m"]
    assert ran.code == 0, ran.err
    short = run("digest", "2026-02-05", "--format", "json", "--repo", "m", server=server, DIGEST_REPOS="o/n,o/m")
    assert json.loads(short.out)["repo"] == "o/m"
    server.faults = [Fault("o/m/commits$", 418, times=1000)]
    partly = run("digest", "2026-02-06", "--format", "json", server=server, DIGEST_REPOS="o/m,o/n")
    assert [json.loads(line)["repo"] for line in partly.out.splitlines()] == ["o/n"]
    assert "o/m: " in one_line(partly.err)
    assert partly.code == 3


def test_the_json_has_the_promised_form(run: Run) -> None:
    """One object a repository, with the keys that others rely on."""
    report = json.loads(run("digest", "--sample", "--format", "json").out)
    assert list(report)[:10] == [
        "repo",
        "date",
        "timezone",
        "language",
        "window",
        "stats",
        "coverage",
        "usage",
        "edited",
        "commits",
    ]
    assert set(report["stats"]) == {"total", "high", "medium", "low"}
    assert {"listed", "ranked", "analysed", "by_rules", "failed", "shortened"} <= set(report["coverage"])
    assert set(report["usage"]) == {
        "model",
        "calls",
        "input_tokens",
        "output_tokens",
        "cached_tokens",
        "cost_usd",
        "removed_claims",
    }
    commit = report["commits"][0]
    promised = (
        "sha short_sha url title author authored_at committed_at pr message additions deletions paths importance score reasons "
        "change_types links analysis"
    )
    assert set(promised.split()) <= set(commit)
    assert set(commit["links"]) == {"reverts", "reverted_by", "series", "fixes"}
    assert set(commit["reasons"][0]) == {"signal", "points", "evidence"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", report["window"]["start"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", commit["committed_at"])
    instants = [each["committed_at"] for each in report["commits"]]
    assert instants == sorted(instants, reverse=True)


def test_a_watch_raises_what_touches_it(run: Run) -> None:
    """What is watched is high and named with its line in every format; a term that cannot be watched is a usage error."""
    plain, watched = (
        json.loads(run("digest", "--sample", "--format", "json", *more).out)
        for more in ((), ("--watch", "lantern/log_table.py, --host"))
    )
    touched = {each["pr"]: each["watched"] for each in watched["commits"] if "watched" in each}
    assert touched
    assert {each["importance"] for each in watched["commits"] if "watched" in each} == {"high"}
    assert watched["stats"]["total"] == plain["stats"]["total"]
    assert watched["stats"]["high"] > plain["stats"]["high"]
    place = next(iter(touched.values()))[0]
    for form in ("terminal", "markdown"):
        told = run("digest", "--sample", "--format", form, "--watch", "lantern/log_table.py, --host", COLUMNS="200").out
        assert "Touches watched terms" in told
        assert place["path"] in told
    failed = run("digest", "--sample", "--watch", "LLM,x")
    assert (failed.code, failed.out) == (2, "")
    assert "'x' is too short" in failed.err


def test_a_file_is_written_whole_or_not_at_all(run: Run, serve: Serve, tmp_path: Path) -> None:
    """`--out` replaces a file at once, leaves nothing beside it, and an old file survives a failed run."""
    out = tmp_path / "report.md"
    out.write_text("yesterday's")
    server = serve(recorded(1))
    server.faults = [Fault("/commits$", 418)]
    failed = run("digest", "2026-02-05", "--out", str(out), server=server)
    assert (failed.code, out.read_text()) == (3, "yesterday's")
    ran = run("digest", "2026-02-05", "--out", str(out), server=server)
    assert (ran.code, ran.out) == (0, "")
    assert out.read_text().startswith("# Daily update (2026-02-05)")
    assert [path.name for path in tmp_path.iterdir() if "report" in path.name] == ["report.md"]


def test_search_finds_titles_paths_and_summaries(run: Run, serve: Serve) -> None:
    """Words of the title, of a path and of the author's purpose find the commit; nothing found is said and is no failure."""
    server = serve(recorded(1, message="[KV Connector] Fix NixlConnector 调度 (#4711)"), recorded(2))
    assert run("backfill", "2026-02-05..2026-02-05", server=server, GITHUB_TOKEN="t").code == 0
    for words in (
        ("kv", "conn"),
        ("connector",),
        ("part1.py",),
        ("slow", "+kv"),
        ('"kv connector" slow',),
        ("调度",),
        ("#4711",),
    ):
        ran = run("search", *words, "--format", "json")
        assert [json.loads(line)["sha"][:2] for line in ran.out.splitlines()] == ["01"], words
    nothing = run("search", "nowhere")
    assert (nothing.code, nothing.out) == (0, "no stored commit holds 'nowhere'\n")
    assert len(run("search", "x" * 3_000).out) < 300
    assert "0101010" in run("search", "connector").out


def test_rank_reads_files_and_standard_input(run: Run, tmp_path: Path) -> None:
    """Recorded commits come out ranked, a line each; a malformed line is named by its number and nothing is written."""
    lines = [json.dumps(recorded(n)) for n in (1, 2)]
    (tmp_path / "commits.jsonl").write_text("\n".join(lines))
    from_file = run("rank", "commits.jsonl")
    from_pipe = run("rank", "-", stdin="\n".join(lines).encode())
    assert from_file == from_pipe
    ranked = [json.loads(line) for line in from_file.out.splitlines()]
    assert [set(each) for each in ranked] == [{"sha", "score", "importance", "reasons"}] * 2
    lone_surrogate = json.dumps(recorded(3, message="\ud800")).encode()
    for broken in (b"{", b"[]", b'{"sha": 1}', lone_surrogate, b"\xff\xfe"):
        ran = run("rank", "-", stdin=lines[0].encode() + b"\n\n" + broken)
        assert "line 3" in one_line(ran.err)
        assert (ran.code, ran.out) == (2, "")


def test_rank_agrees_with_the_report(run: Run) -> None:
    """A commit is ranked alike by `rank` and in a report."""
    sample = Path(__file__).resolve().parents[3] / "loopback" / "sample" / "commits.jsonl"
    ranked = {each["sha"]: each["importance"] for each in map(json.loads, run("rank", str(sample)).out.splitlines())}
    report = json.loads(run("digest", "--sample", "--format", "json").out)
    assert ranked == {commit["sha"]: commit["importance"] for commit in report["commits"]}


def test_a_backfill_that_is_killed_goes_on(run: Run, serve: Serve, tmp_path: Path) -> None:
    """A backfill that is killed at any moment and started again asks for no commit twice that was stored, and ends complete."""
    commits = [
        recorded(n, date=f"2026-01-{1 + n % 10:02d}T0{n % 7}:00:00+00:00", sha=f"{n:040x}", parents=[])
        for n in range(1, 61)
    ]
    for before, after in pairwise(commits):
        after["parents"] = [before["sha"]]
    server = serve(*commits)
    settings = {
        "GITHUB_API_URL": server.url,
        "DIGEST_REPOS": "o/n",
        "DIGEST_MIRRORS": "",
        "DIGEST_TIMEZONE": "UTC",
        "DIGEST_LANGUAGE": "en",
    }
    for reads in (10, 30):
        streams = [Path(os.devnull)] * 3
        process = begun(["backfill", "2026-01-01..2026-01-10"], tmp_path, settings, streams)
        while server.asked("/commits/") < reads and process.exitcode is None:
            time.sleep(0.005)
        process.kill()
        process.join()
    done = run("backfill", "2026-01-01..2026-01-10", server=server)
    assert done.code == 0, done.err
    assert done.out == "o/n: 10 days, 60 commits, 0 failed\n"
    assert server.asked("/commits/") <= 60 + 2 * 9, "only those in flight at a kill are asked for again"
    asked = len(server.requests)
    assert run("backfill", "2026-01-01..2026-01-10", server=server).out == done.out
    assert len(server.requests) == asked


def test_a_backfill_stops_at_the_limit_and_goes_on(run: Run, serve: Serve) -> None:
    """When the limit is used up a backfill says when it resets and what is done, and a rerun completes it."""
    commits = [recorded(n, date=f"2026-01-0{n}T08:00:00+00:00") for n in range(1, 9)]
    server = serve(*commits, limit=6)
    ran = run("backfill", "2026-01-01..2026-01-08", server=server)
    assert "limit" in one_line(ran.err)
    assert ran.code == 3
    assert "o/n: " in ran.out
    server.limit = None
    again = run("backfill", "2026-01-01..2026-01-08", server=server)
    assert (again.code, again.out) == (0, "o/n: 8 days, 8 commits, 0 failed\n")


def test_help_names_every_command(run: Run) -> None:
    """`--help`, and no command at all, say what there is."""
    ran = run("--help")
    assert run().out == ran.out
    assert ran.code == 0
    for command in ("digest", "commit", "backfill", "search", "rank"):
        assert re.search(rf"^  {command} ", ran.out, re.MULTILINE)
        assert run(command, "--help").code == 0


def test_recorded_history_is_ranked(run: Run) -> None:
    """The 1,488 recorded commits of vLLM are ranked, about one in ten of them high."""
    ran = run("rank", "-", stdin=commit_lines())
    tiers = [json.loads(line)["importance"] for line in ran.out.splitlines()]
    assert len(tiers) == 1488
    assert 0.05 <= tiers.count("high") / len(tiers) <= 0.15


def test_settings_that_are_no_text_are_one_line(run: Run, tmp_path: Path) -> None:
    """A .env in another encoding than UTF-8 is told by its name."""
    (tmp_path / ".env").write_bytes(b"DIGEST_CHANNEL=\xff\xfe")
    ran = run("search", "x")
    assert (ran.code, ran.err) == (2, "vllm-digest: .env: is not a text in UTF-8\n")


def test_a_repositorys_address_is_told_without_its_password(run: Run) -> None:
    """Whoever pastes a clone's address with a password does not find that in a log."""
    ran = run("digest", "2026-02-05", "--repo", "https://ada:hunter2@github.com/o/n")
    assert ran.code == 2
    assert "is not a repository" in one_line(ran.err)
    assert "hunter2" not in ran.err


def test_an_interrupted_command_says_how_to_go_on(tmp_path: Path) -> None:
    """Ctrl-C is one line and exit 130, as for a program of the shell."""
    os.mkfifo(tmp_path / "pipe")
    streams = [Path(os.devnull), Path(os.devnull), tmp_path / "err"]
    process = begun(["suspects", "pipe"], tmp_path, {"DIGEST_REPOS": "o/n", "PATH": os.environ["PATH"]}, streams)
    with (tmp_path / "pipe").open("wb"):  # once the command reads it
        os.kill(process.pid, signal.SIGINT)
        process.join(30)
    assert process.exitcode == 130
    assert "run it again to continue" in one_line((tmp_path / "err").read_text())
