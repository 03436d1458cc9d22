"""Where a command's result goes: a pipe whose reader may leave, a terminal of some width, a file."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from io import FileIO
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from rich.cells import cell_len

from bot.cli.progress import TerminalProgress
from tests.conftest import Run, recorded
from tests.servers.github import FaultyGitHub
from tests.servers.launched import Launched, begun, without_progress

Serve = Callable[..., FaultyGitHub]

_ROOT = Path(__file__).resolve().parents[3]
_SAMPLE = str(_ROOT / "loopback" / "sample" / "commits.jsonl")
_NOTHING = Path(os.devnull)
_PATIENCE = 120  # seconds
_PLACE = re.compile(r"[\w./-]+\.\w+:\d+")
_ESCAPE = re.compile(r"\x1b\]8;[^\x1b]*\x1b\\|\x1b\[[\d;]*m")


def environment(server: FaultyGitHub | None = None, **settings: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {
        **kept,
        "GITHUB_API_URL": server.url if server else "http://127.0.0.1:9",
        "DIGEST_REPOS": "o/n",
        "DIGEST_MIRRORS": "",
        "DIGEST_TIMEZONE": "UTC",
        "DIGEST_LANGUAGE": "en",
        **settings,
    }


def ended(process: Launched) -> int:
    """The exit code of a command."""
    process.join(_PATIENCE)
    assert process.exitcode is not None
    return process.exitcode


def run_unread(folder: Path, settings: Mapping[str, str], *arguments: str, errors_too: bool = False) -> tuple[int, str]:
    """The exit code and the errors of a command whose output nobody reads, nor with `errors_too` its errors."""
    reading, writing = Pipe(duplex=False)
    reading.close()
    errors = folder / "errors.txt"
    errors.write_text("")
    with writing:
        process = begun(arguments, folder, settings, [_NOTHING, writing, writing if errors_too else errors])
    return ended(process), without_progress(errors.read_text("utf-8"))


def first_line(folder: Path, *arguments: str, pipe: str = "") -> tuple[int, str, str]:
    """The exit code, the errors and the first line of a command whose reader leaves after that; what it writes to is `pipe`."""
    errors = folder / "errors.txt"
    errors.write_text("")
    reading, writing = Pipe(duplex=False)
    with writing:
        process = begun(arguments, folder, environment(), [_NOTHING, writing, errors])
    with FileIO(pipe or os.dup(reading.fileno())) as reader:
        line = reader.readline().decode()
        reading.close()
    return ended(process), without_progress(errors.read_text("utf-8")), line


def shown_on_terminal(
    folder: Path, columns: int, *arguments: str, server: FaultyGitHub | None = None, errors_too: bool = False
) -> list[str]:
    """The rows that a command shows on a terminal of so many columns, without colours and links."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with Connection(theirs, readable=False) as terminal:
        settings = environment(server, TERM="xterm-256color")
        process = begun(arguments, folder, settings, [_NOTHING, terminal, terminal if errors_too else _NOTHING])
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # how Linux tells that the other end is closed
        pass
    os.close(ours)
    assert ended(process) == 0
    return _ESCAPE.sub("", shown.decode()).splitlines()


@pytest.mark.parametrize(
    "arguments",
    [
        ("digest", "--sample"),
        ("digest", "--sample", "--format", "json"),
        ("rank", _SAMPLE),
        ("--help",),
    ],
)
def test_a_reader_that_leaves_ends_a_command_quietly(arguments: Sequence[str], tmp_path: Path) -> None:
    """A command whose output nobody reads ends as it would otherwise, and says nothing of the pipe."""
    assert run_unread(tmp_path, environment(), *arguments) == (0, "")


def test_a_reader_that_leaves_ends_stored_commits_quietly(serve: Serve, tmp_path: Path) -> None:
    """Commands about read commits end quietly too, and `backfill` does its work to the end."""
    settings = environment(serve(recorded(1)))
    for arguments in (
        ("backfill", "2026-02-05..2026-02-05"),
        ("search", "part"),
        ("search", "part", "--format", "json"),
        ("commit", "0101010"),
        ("ask", "0101010", "what does it change?"),
    ):
        assert run_unread(tmp_path, settings, *arguments) == (0, ""), arguments


def test_a_reader_that_leaves_does_not_change_a_failure(serve: Serve, tmp_path: Path) -> None:
    """What is wrong is said, with its exit code, whether or not the output is read; and where the errors are not read either."""
    code, err = run_unread(tmp_path, environment(), "doctor")
    assert (code, err.count("\n")) == (3, 1)
    assert run_unread(tmp_path, environment(), "digest", "nonsense", errors_too=True) == (2, "")


def test_head_gets_its_line(tmp_path: Path) -> None:
    """`head` gets the first line, and a shell that watches every part of a pipe sees no failure."""
    line = f"set -o pipefail; {sys.executable} -m bot digest --sample | head -1"
    settings = environment(PYTHONPATH=str(_ROOT))
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=settings, capture_output=True, check=False)
    assert (done.returncode, without_progress(done.stderr.decode())) == (0, "")
    assert "lantern/lantern-serve" in done.stdout.decode()


def test_a_report_is_written_to_a_pipe_by_its_name(tmp_path: Path) -> None:
    """`--out` takes the name of a pipe, whose reader may leave, and that of standard output."""
    os.mkfifo(tmp_path / "pipe")
    for out, pipe in (("/dev/stdout", ""), ("pipe", str(tmp_path / "pipe"))):
        code, errors, line = first_line(tmp_path, "digest", "--sample", "--out", out, pipe=pipe)
        assert (code, errors) == (0, ""), out
        assert "lantern/lantern-serve" in line


def test_a_pipe_gets_whole_lines(run: Run, tmp_path: Path) -> None:
    """What is not a terminal gets plain text: each line as long as it is, whatever the width is said to be, and no padding."""
    arguments = ("digest", "--sample", "--lang", "zh")
    narrow, wide = (run(*arguments, COLUMNS=columns).out for columns in ("20", "200"))
    assert narrow == wide
    assert "\x1b" not in narrow
    lines = narrow.splitlines()
    assert lines == [line.rstrip() for line in lines]
    report = json.loads(run(*arguments, "--format", "json").out)
    for each in report["commits"]:
        if each["importance"] == "high":
            assert f"🔴 {each['title'].replace('`', '')}" in lines
    assert run(*arguments, "--out", "report.txt").code == 0
    assert (tmp_path / "report.txt").read_text("utf-8") == narrow


def test_a_terminal_never_breaks_a_place(run: Run, tmp_path: Path) -> None:
    """On a terminal rows fit its width, a path stays with its line number, and only a last word may go past it."""
    whole = run("digest", "--sample", "--lang", "zh").out
    for columns in (40, 120):
        rows = shown_on_terminal(tmp_path, columns, "digest", "--sample", "--lang", "zh")
        assert Counter(_PLACE.findall("\n".join(rows))) == Counter(_PLACE.findall(whole)), columns
        assert all(cell_len(row.rpartition(" ")[0]) <= columns for row in rows), columns


def test_an_answer_does_not_stand_beside_the_progress(serve: Serve, tmp_path: Path) -> None:
    """On a terminal the bar is drawn no more when an answer begins."""
    about = ("ask", "0101010", "what does it change?")
    shown = shown_on_terminal(tmp_path, 80, *about, server=serve(recorded(1)), errors_too=True)
    (told,) = (number for number, each in enumerate(shown) if "part1.py" in each)
    bars = [number for number, each in enumerate(shown) if "━" in each]
    assert 0 <= max(bars) < told


def test_progress_is_told_in_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Every few seconds standard error says what is done and how far it is, and standard output nothing."""
    with TerminalProgress(interval=0.01) as progress:
        progress.stage("o/n 2026-02-05")
        progress.expect(3)
        progress.advance()
        told = ""
        while "… o/n 2026-02-05 1 of 3 (0 s)\n" not in told:
            shown = capsys.readouterr()
            told += shown.err
            assert shown.out == ""
