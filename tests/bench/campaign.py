"""The campaign of bad input: the suite's own properties, with many examples of their own, in pieces of different seeds.

A row tells of a kind of input how many examples were tried and how many tests failed, by how much memory grew after the
first piece, and the processor time. BENCH_CAMPAIGN is how many times the suite's examples a piece has, BENCH_PIECES how many
pieces there are, BENCH_SEED the first one's seed, BENCH_KINDS the kinds, separated by commas: all by default.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.bench.figures import MB, Row, duration

# A kind of input, and the files whose properties are about it.
KINDS: Mapping[str, tuple[str, ...]] = {
    "commits": ("tests/bot/test_any_day.py",),
    "titles": (
        "tests/analysis/test_text.py",
        "tests/analysis/report/test_escape.py",
        "tests/analysis/writing/test_purpose.py",
        "tests/bot/slack/messages/test_slack_blocks.py",
        "tests/bot/slack/messages/test_slack_markdown.py",
    ),
    "names": ("tests/analysis/test_paths.py", "tests/bot/services/test_reference.py"),
    "patches": (
        "tests/analysis/facts/test_any_patch.py",
        "tests/analysis/test_diff.py",
        "tests/analysis/test_watch.py",
        "tests/analysis/writing/test_by_rules.py",
    ),
    "questions": ("tests/analysis/questions/test_answer.py", "tests/bot/store/test_search.py"),
    "commands": ("tests/bot/slack/parsing/test_grammar.py", "tests/bot/slack/commands/test_slack_anything.py"),
    "forms": ("tests/bot/slack/parsing/test_any_form.py",),
    "model replies": (
        "tests/analysis/grounding/test_check.py",
        "tests/analysis/questions/test_answers.py",
        "tests/bot/services/test_models.py",
    ),
    "GitHub replies": ("tests/analysis/sources/test_any_reply.py",),
    "git objects": ("tests/analysis/sources/test_any_object.py",),
    "Slack payloads": ("tests/bot/slack/test_http.py",),
    "secrets": ("tests/analysis/sources/test_secrets.py",),
}
# Tests beside those that hypothesis marks, which draw all that they send before they send it.
_DRAWING = (
    "test_whatever_is_typed_is_answered",
    "test_any_payload_is_taken_or_refused",
    "test_whatever_a_model_says_ends_in_an_analysis",
)
_TRIED = re.compile(r"during generate phase.*?(\d+) passing, (\d+) failing, and (\d+) invalid", re.DOTALL)
_PAGE = os.sysconf("SC_PAGE_SIZE")


def campaign(settings: Mapping[str, str] = os.environ) -> Iterator[Row]:
    """Yield a row a kind. Each is tried in a process of its own."""
    kinds = settings.get("BENCH_KINDS", "")
    times, pieces, seed = (settings.get(name, usual) for name, usual in _SETTINGS)
    for kind in kinds.split(",") if kinds else KINDS:
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.campaign", pieces, seed, *KINDS[kind]],
            env={**os.environ, "CAMPAIGN": times},
            capture_output=True,
            check=False,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(done.stderr[-2_000:])
        sys.stderr.write(done.stderr)
        found = json.loads(done.stdout.splitlines()[-1])
        yield Row(
            kind,
            f"{found['examples']:,} examples, {found['failed']} failed",
            f"memory grew by {found['grown'] / MB:.0f} MB",
            duration(found["seconds"]),
            "none failed",
            found["failed"] == 0,
        )


_SETTINGS = (("BENCH_CAMPAIGN", "10"), ("BENCH_PIECES", "2"), ("BENCH_SEED", "1"))


class _Counting:
    """A plug-in of pytest that runs properties only, and counts their examples and failures."""

    def __init__(self) -> None:
        self.examples = 0
        self.failed = 0

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [each for each in items if each.get_closest_marker("hypothesis") or each.name in _DRAWING]

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed += 1
            sys.stderr.write(f"{report.nodeid}\n{report.longreprtext[-3_000:]}\n")
        if report.when == "call":
            self.examples += sum(value for name, value in report.user_properties if name == "examples")

    def pytest_runtest_teardown(self, item: Any) -> None:
        found = _TRIED.search(getattr(item, "hypothesis_statistics", ""))
        self.examples += sum(map(int, found.groups())) if found else 0


def _tried(pieces: int, seed: int, files: list[str]) -> dict[str, float]:
    """Run the properties of some files so many times, each time with the next seed."""
    import gc

    import pytest

    counting = _Counting()
    sizes = []
    for piece in range(pieces):
        options = [f"--hypothesis-seed={seed + piece}", "--tb=short", "-p", "no:cacheprovider", *files]
        pytest.main(options, plugins=[counting])
        gc.unfreeze()
        gc.collect()
        sizes.append(int(Path("/proc/self/statm").read_text("ascii").split()[1]) * _PAGE)
    used = os.times()
    seconds = used.user + used.system + used.children_user + used.children_system
    return {"examples": counting.examples, "failed": counting.failed, "grown": sizes[-1] - sizes[0], "seconds": seconds}


if __name__ == "__main__":
    told = _tried(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
    sys.stdout.write(f"\n{json.dumps(told)}\n")
