"""The only door to git: its own program, run in bare repositories without anybody's configuration.

Every run is limited in time, and its whole process group is killed when the time is up. What git does is decided here
alone: no configuration of the system, of a user or of an environment variable, no hooks, attributes, filters, submodules,
prompts or credential helpers, no protocol but HTTP(S), no redirects (a token would follow them), no collection of garbage.
"""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import IO

from analysis.sources.git.errors import GitFailed, GitMissing, GitTimedOut
from analysis.sources.git.remotes import Remote

OLDEST = (2, 38)  # `grep --max-count`; `log --since-as-filter` and `fetch --stdin` are older
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

_TICK = 0.25  # seconds between two looks at a running git
_PASSED_ON = (  # the only variables of a caller's environment that git gets
    *("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"),
)
_ENVIRONMENT = {
    "PATH": os.defpath,
    "HOME": os.devnull,  # unset, libcurl would look for the user's .netrc
    "LC_ALL": "C",
    "GIT_ALLOW_PROTOCOL": "http:https",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_CONFIGURATION = {  # no fsckObjects: real histories have malformed old commits, and nothing is ever checked out
    "attr.tree": EMPTY_TREE,
    "commitGraph.generationVersion": "1",  # of a date beyond 64 bits git computes the second version for ever
    "core.askPass": "",
    "core.attributesFile": os.devnull,
    "core.bigFileThreshold": "16m",  # a larger file counts as binary and is not read into memory
    "core.disambiguate": "commit",
    "core.hooksPath": os.devnull,
    "credential.helper": "",
    "diff.renameLimit": "1000",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1000",  # bytes per second
    "http.lowSpeedTime": "30",  # seconds
    "http.postBuffer": "33554432",  # bytes; servers may refuse what is sent in chunks
    "i18n.logOutputEncoding": "UTF-8",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "protocol.version": "2",
    "safe.directory": "*",  # the folders are the caller's, whoever owns them
}
_PROGRESS = re.compile(r"(?:remote: )?([A-Z][a-z]+(?: [a-z]+)*): +(\d+)%")
_NO_ARGUMENT = re.compile("[\0\ud800-\udfff]")
_FATAL = 128  # git's status of a failure
_NO_ENVIRONMENT: Mapping[str, str] = MappingProxyType({})


class Git:
    """Runs git in bare repositories.

    `program` is its name or path; of `environment` only the proxies and certificates are passed on. Raises `GitMissing`
    if git is not there or too old, `GitFailed` if it fails, `GitTimedOut` after `timeout` seconds.
    """

    def __init__(self, program: str = "git", environment: Mapping[str, str] = _NO_ENVIRONMENT) -> None:
        self._program = program
        self._passed_on = {name: environment[name] for name in _PASSED_ON if name in environment}

    def run(
        self,
        folder: Path,
        *arguments: str,
        stdin: bytes = b"",
        remote: Remote | None = None,
        timeout: float = 60,
        on_tick: Callable[[], None] | None = None,
        on_progress: Callable[[str], None] | None = None,
        keep_open: Sequence[int] = (),
    ) -> bytes:
        """Return what git prints about the bare repository in `folder`.

        Without a `remote` git reads what is there and fetches nothing by itself. `on_tick` is called while git runs and
        ends it by an exception. `keep_open` are file descriptors, such as a lock's, that live as long as git does.
        """
        with self._running(folder, arguments, remote=remote, keep_open=keep_open, errors=subprocess.PIPE) as process:
            output, errors = _communicate(process, stdin, timeout, on_tick, on_progress)
        if process.returncode:
            raise GitFailed(process.returncode, errors.decode("utf-8", "replace"))
        return output

    def start(self, folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
        """Start a git that reads requests from its standard input until that is closed."""
        return self._start(folder, arguments, errors=subprocess.DEVNULL)

    def check(self) -> None:
        """Raise `GitMissing` if there is no git, or one that is too old."""
        if self._version < OLDEST:
            raise GitMissing(".".join(map(str, self._version)))

    @cached_property
    def _path(self) -> str:
        path = shutil.which(self._program)
        if path is None:
            raise GitMissing("")
        return path

    @cached_property
    def _version(self) -> tuple[int, ...]:
        command = [self._path, "version"]
        done = subprocess.run(command, capture_output=True, env=_ENVIRONMENT, timeout=60, check=False)  # noqa: S603
        found = re.search(rb"(\d+)\.(\d+)", done.stdout)
        return (int(found[1]), int(found[2])) if found else (0, 0)

    @contextmanager
    def _running(
        self, folder: Path, arguments: Sequence[str], *, remote: Remote | None, keep_open: Sequence[int], errors: int
    ) -> Iterator["subprocess.Popen[bytes]"]:
        process = self._start(folder, arguments, remote=remote, keep_open=keep_open, errors=errors)
        try:
            yield process
        finally:
            kill(process)

    def _start(
        self,
        folder: Path,
        arguments: Sequence[str],
        *,
        errors: int,
        remote: Remote | None = None,
        keep_open: Sequence[int] = (),
    ) -> "subprocess.Popen[bytes]":
        self.check()
        if _NO_ARGUMENT.search("".join(arguments)):
            raise GitFailed(_FATAL, "an argument that no program can be given")
        return subprocess.Popen(  # noqa: S603 (git alone; what comes from outside stands after --end-of-options)
            [self._path, f"--git-dir={folder}", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=self._environment(remote),
            pass_fds=keep_open,
            start_new_session=True,
        )

    def _environment(self, remote: Remote | None) -> dict[str, str]:
        configured = {**_CONFIGURATION, **(remote.configuration() if remote else {})}
        environment = {**_ENVIRONMENT, **self._passed_on, "GIT_CONFIG_COUNT": str(len(configured))}
        for number, (key, value) in enumerate(configured.items()):
            environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return environment


def kill(process: "subprocess.Popen[bytes]") -> None:
    """End a process and whatever it started, close its pipes and wait for it."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):  # it may end meanwhile
            os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            with suppress(OSError):  # what was not written yet
                pipe.close()
    process.wait()


def _communicate(
    process: "subprocess.Popen[bytes]",
    stdin: bytes,
    timeout: float,
    on_tick: Callable[[], None] | None,
    on_progress: Callable[[str], None] | None,
) -> tuple[bytes, bytes]:
    """Return standard output and standard error, looking at the process from time to time."""
    told = ""
    waited = 0.0
    # `communicate` forgets, once it has timed out, what it has not written by then.
    Thread(target=_write, args=(process.stdin, stdin), daemon=True).start()
    process.stdin = None
    while True:
        try:
            return process.communicate(timeout=_TICK)
        except subprocess.TimeoutExpired as exc:
            waited += _TICK
            if waited >= timeout:
                raise GitTimedOut(timeout) from exc
            if on_tick:
                on_tick()
            line = progress(exc.stderr or b"")
            if on_progress and line and line != told:
                on_progress(line)
                told = line


def _write(pipe: IO[bytes], text: bytes) -> None:
    """Write all of a process's standard input, unless it ends before that, and close it."""
    with suppress(OSError), pipe:
        pipe.write(text)


def progress(errors: bytes) -> str:
    """Return git's latest progress, `receiving objects 45%`, from its standard error so far; "" before the first."""
    found = _PROGRESS.findall(errors[-2_000:].decode("utf-8", "replace"))
    return f"{found[-1][0].lower()} {found[-1][1]}%" if found else ""
