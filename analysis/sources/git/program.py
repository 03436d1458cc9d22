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
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import IO, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from analysis.locale import mark
from analysis.sources.git.errors import GitFailed, GitProblem, GitTimedOut

Process: TypeAlias = "subprocess.Popen[bytes]"  # a running git
OLDEST = (2, 38)  # `grep --max-count`; `log --since-as-filter` and `fetch --stdin` are older
FILTER = "blob:none"
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
_URL = re.compile(r"https?://([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9a-fA-F:]+\])(:\d{1,5})?(/[A-Za-z0-9._~%+-]+)+/?")
_NO_REF_NAME = re.compile(  # git-check-ref-format(1)
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|^[-/.]|^@?$|[/.]$"
)
_API_HOST = "api."  # api.github.com serves github.com, api.NAME.ghe.com serves NAME.ghe.com
_NO_ARGUMENT = re.compile("[\0\ud800-\udfff]")
_FATAL = 128  # git's status of a failure
_NO_ENVIRONMENT: Mapping[str, str] = MappingProxyType({})


class Remote(NamedTuple):
    """Where a repository is fetched from, and the token for that server if there is one."""

    url: str
    token: str | None = None

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    def configuration(self) -> dict[str, str]:
        """Return git's configuration of the remote `origin`; the token is for its own origin only."""
        url = urlsplit(self.url)
        configured = {
            "remote.origin.url": self.url,
            "remote.origin.promisor": "true",
            "remote.origin.partialCloneFilter": FILTER,
        }
        if self.token:
            coded = b64encode(f"x-access-token:{self.token}".encode()).decode()
            configured[f"http.{url.scheme}://{url.netloc}/.extraHeader"] = f"Authorization: Basic {coded}"
        return configured


class Git:
    """Runs git in bare repositories.

    `program` is its name or path; of `environment` only the proxies and certificates are passed on; `on_progress` hears how
    far git is. Raises `GitProblem` if git is not there or too old, `GitFailed` if it fails, `GitTimedOut` after `timeout` seconds.
    """

    def __init__(
        self,
        program: str = "git",
        environment: Mapping[str, str] = _NO_ENVIRONMENT,
        on_progress: Callable[[str], None] | None = None,
    ) -> None:
        self._program = program
        self._on_progress = on_progress
        self._passed_on = {name: environment[name] for name in _PASSED_ON if name in environment}

    def run(
        self,
        folder: Path,
        *arguments: str,
        stdin: bytes = b"",
        remote: Remote | None = None,
        timeout: float = 60,
        on_tick: Callable[[], None] | None = None,
        keep_open: Sequence[int] = (),
    ) -> bytes:
        """Return what git prints about the bare repository in `folder`.

        Without a `remote` git reads what is there and fetches nothing by itself. `on_tick` is called while git runs and
        ends it by an exception. `keep_open` are file descriptors, such as a lock's, that live as long as git does.
        """
        with TemporaryFile() as given:
            given.write(stdin)
            given.seek(0)
            process = self._popen(folder, arguments, given, subprocess.PIPE, remote, keep_open)
            try:
                output, errors = self._communicate(process, timeout, on_tick)
            finally:
                kill(process)
        if process.returncode:
            raise GitFailed(process.returncode, errors.decode("utf-8", "replace"))
        return output

    def fetch(
        self,
        folder: Path,
        remote: Remote,
        *wanted: str,
        stdin: bytes = b"",
        timeout: float,
        on_tick: Callable[[], None],
        lock: int,
    ) -> None:
        """Fetch commits with their folders, but without files, or the objects that `stdin` lists; git keeps the `lock` open."""
        objects_alone = ("-c", "fetch.negotiationAlgorithm=noop") if stdin else ()
        command = ("fetch", "--progress", "--no-tags", "--no-write-fetch-head", f"--filter={FILTER}")
        arguments = (*objects_alone, *command, *wanted)
        self.run(folder, *arguments, stdin=stdin, remote=remote, timeout=timeout, on_tick=on_tick, keep_open=[lock])

    def start(self, folder: Path, *arguments: str) -> Process:
        """Start a git that reads requests from its standard input until that is closed."""
        return self._popen(folder, arguments, subprocess.PIPE, subprocess.DEVNULL)

    def check(self) -> None:
        """Raise `GitProblem` if there is no git, one that does not run, or one that is too old."""
        if not self._version:
            raise GitProblem(mark("git does not run on this machine; install git 2.38 or newer"))
        if self._version < OLDEST:
            version = ".".join(map(str, self._version))
            raise GitProblem(mark("git {version} is too old; install git 2.38 or newer"), version=version)

    @cached_property
    def _path(self) -> str:
        path = shutil.which(self._program)
        if path is None:
            raise GitProblem(mark("git is not installed; install git 2.38 or newer"))
        return path

    @cached_property
    def _version(self) -> tuple[int, ...]:
        command = [self._path, "version"]
        done = subprocess.run(command, capture_output=True, env=_ENVIRONMENT, timeout=60, check=False)  # noqa: S603
        found = re.search(rb"(\d+)\.(\d+)", done.stdout)
        return (int(found[1]), int(found[2])) if found else ()

    def _communicate(self, process: Process, timeout: float, on_tick: Callable[[], None] | None) -> tuple[bytes, bytes]:
        """Return standard output and standard error, looking at the process from time to time."""
        told = ""
        waited = 0.0
        while True:
            try:
                return process.communicate(timeout=_TICK)
            except subprocess.TimeoutExpired as exc:
                waited += _TICK
                if waited >= timeout:
                    raise GitTimedOut(seconds=timeout) from exc
                if on_tick:
                    on_tick()
                line = _progress(exc.stderr or b"")
                if self._on_progress and line and line != told:
                    self._on_progress(line)
                    told = line

    def _popen(
        self,
        folder: Path,
        arguments: Sequence[str],
        stdin: IO[bytes] | int,
        errors: int,
        remote: Remote | None = None,
        keep_open: Sequence[int] = (),
    ) -> Process:
        self.check()
        if _NO_ARGUMENT.search("".join(arguments)):
            raise GitFailed(_FATAL, "an argument that no program can be given")
        return subprocess.Popen(  # noqa: S603 (git alone; what comes from outside stands after --end-of-options)
            [self._path, f"--git-dir={folder}", *arguments],
            stdin=stdin,
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


def kill(process: Process) -> None:
    """End a process and whatever it started, close its pipes and wait for it."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):  # it may end meanwhile
            os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            with suppress(OSError):  # what was not written yet
                pipe.close()
    process.wait()


def _progress(errors: bytes) -> str:
    """Return git's latest progress, `receiving objects 45%`, from its standard error so far; "" before the first."""
    found = _PROGRESS.findall(errors[-2_000:].decode("utf-8", "replace"))
    return f"{found[-1][0].lower()} {found[-1][1]}%" if found else ""


def is_clonable(url: str) -> bool:
    """Return whether an address is a plain one of HTTP(S): no other protocol, no name or password, no option."""
    return bool(_URL.fullmatch(url))


def is_ref_name(name: str) -> bool:
    """Return whether a branch or tag can have this name, and git cannot take it for anything else."""
    return not _NO_REF_NAME.search(name)


def is_server_of(api_url: str, clone_url: str) -> bool:
    """Return whether the server of an API is the one that a repository is cloned from, as GitHub names its hosts."""
    api, clone = urlsplit(api_url), urlsplit(clone_url)
    same_host = clone.hostname in (api.hostname, (api.hostname or "").removeprefix(_API_HOST))
    return bool(clone.hostname) and same_host and (api.scheme, api.port) == (clone.scheme, clone.port)
