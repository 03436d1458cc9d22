"""Tests in several processes, forked from the one that has collected them: what is imported and built by then is shared.

With `--processes N`, N of them are given the tests of one module after the other; who has none left takes half of those that
another has before it. Each is a session of pytest of its own, that reports to the first, which alone speaks.

pytest-xdist would start each process anew: of all tests collecting takes 11 s of processor time a process, so that 2,000 of them took 37 s
in four processes of xdist and 20 s here.
"""

import os
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from select import select
from tempfile import TemporaryFile
from typing import Any

import pytest

_AHEAD = 2  # tests that a process knows of: what the next one shares is not torn down


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", type=int, default=1, help="How many processes run the tests at once.")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    option = session.config.option
    if option.processes < 2 or option.collectonly or session.testsfailed:
        return None
    workers: list[_Worker] = []
    for number in range(option.processes):
        # A pipe each way: of a socket what a killed process had sent is lost with what it had not read.
        (reports, to_first), (tests, to_worker) = Pipe(duplex=False), Pipe(duplex=False)
        _flush()
        if not (process := os.fork()):
            for each in (reports, to_worker, *(end for worker in workers for end in (worker.reports, worker.tests))):
                each.close()
            _work(session, number, tests, to_first)
            return True  # and this session goes on to its end like any other
        to_first.close()
        tests.close()
        workers.append(_Worker(reports, to_worker, process))
    _direct(session, workers)
    return True


class _Worker:
    """A process that runs tests: those it has been `given`, and those that wait for it in its `pile`."""

    def __init__(self, reports: Connection, tests: Connection, process: int) -> None:
        self.reports = reports
        self.tests = tests
        self.process = process
        self.given: deque[int] = deque()
        self.pile: deque[int] = deque()
        self.dismissed = False  # it has been told that there are no more
        self.failed = False

    def fileno(self) -> int:
        return self.reports.fileno()


def _direct(session: pytest.Session, workers: list[_Worker]) -> None:
    """Deal the tests, and pass on what the processes report, until all have ended."""
    modules = _modules(session.items)
    for worker in workers * _AHEAD:
        _deal(worker, modules, workers)
    at_work = list(workers)
    while at_work:
        for worker in select(at_work, [], [])[0]:
            try:
                reports = worker.reports.recv()
            except EOFError:
                at_work.remove(worker)
                _part(session, worker)
                continue
            _pass_on(session, worker, reports)
            if session.shouldfail or session.shouldstop:
                modules.clear()
                for each in workers:
                    each.pile.clear()
            _deal(worker, modules, workers)
    if any(worker.pile for worker in workers) or modules:
        raise RuntimeError("no process is left for the other tests")
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)


def _modules(items: list[pytest.Item]) -> deque[deque[int]]:
    modules: dict[str, deque[int]] = {}
    for number, item in enumerate(items):
        modules.setdefault(str(item.path), deque()).append(number)
    return deque(modules.values())


def _deal(worker: _Worker, modules: deque[deque[int]], workers: list[_Worker]) -> None:
    """Give a process its next test, or None when there is none."""
    if not worker.pile and modules:
        worker.pile = modules.popleft()
    elif not worker.pile:
        longest = max(workers, key=lambda each: len(each.pile)).pile
        kept = len(longest) // 2
        worker.pile = deque(list(longest)[kept:])
        while len(longest) > kept:
            longest.pop()
    number = worker.pile.popleft() if worker.pile else None
    if number is not None:
        worker.given.append(number)
    elif worker.dismissed:
        return
    worker.dismissed = number is None
    with suppress(BrokenPipeError):  # it ended, which is heard next
        worker.tests.send(number)


def _pass_on(session: pytest.Session, worker: _Worker, reports: list[dict[str, Any]]) -> None:
    hook = session.config.hook
    item = session.items[worker.given.popleft()]
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for data in reports:
        report = hook.pytest_report_from_serializable(config=session.config, data=data)
        worker.failed |= report.failed
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _part(session: pytest.Session, worker: _Worker) -> None:
    """Take leave of a process that has ended; what it had not begun is left to the others."""
    worker.reports.close()
    worker.tests.close()
    _, status = os.waitpid(worker.process, 0)
    code = os.waitstatus_to_exitcode(status)
    expected = pytest.ExitCode.TESTS_FAILED if worker.failed else pytest.ExitCode.OK
    if code == expected and not worker.given:
        return
    name = "the end of a process"
    if worker.given:
        name = session.items[worker.given.popleft()].nodeid
        worker.pile.extendleft(reversed(worker.given))
    told = f"the process that ran this test ended with {code}"
    report = pytest.TestReport(name, ("", None, name), {}, "failed", told, "call")
    session.config.hook.pytest_runtest_logreport(report=report)


def _work(session: pytest.Session, number: int, tests: Connection, to_first: Connection) -> None:
    """Run the tests that the first process names, and report each, silently."""
    config: Any = session.config
    config.workerinput = {"workerid": f"process{number}"}  # by which plugins know a session that is not the first
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(reporter := _Reporter(config))
    if config.option.capture == "fd":
        _write_elsewhere(config.pluginmanager.getplugin("capturemanager"))
    folder = config._tmp_path_factory.getbasetemp() / f"process{number}"
    folder.mkdir()
    config._tmp_path_factory._basetemp = folder
    given = _given(tests)
    item = next(given, None)
    while item is not None:
        following = next(given, None)
        config.hook.pytest_runtest_protocol(
            item=session.items[item], nextitem=None if following is None else session.items[following]
        )
        to_first.send(reporter.take())
        item = following


def _write_elsewhere(capture: Any) -> None:
    """Keep what is written in files of this process, under the names by which modules may know those of the first."""
    capture.resume_global_capture()
    for stream in (sys.stdout, sys.stderr):
        with TemporaryFile() as file:
            os.dup2(file.fileno(), stream.fileno())
    capture.suspend_global_capture()


def _given(tests: Connection) -> Iterator[int]:
    while (number := tests.recv()) is not None:
        yield number


class _Reporter:
    """What is to be reported of a test."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._reports: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._reports.append(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))

    def take(self) -> list[dict[str, Any]]:
        reports, self._reports = self._reports, []
        return reports


def _flush() -> None:
    """Leave nothing in the buffers, which each process would write."""
    for each in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        if each:
            each.flush()
