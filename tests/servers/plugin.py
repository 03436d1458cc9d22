"""An upstream repository with a day that breaks a plug-in, and the plug-in; both can be cloned."""

from collections.abc import Mapping
from typing import Any

from loopback.git.history import with_git_shas
from loopback.github import RecordedRepository
from tests.conftest import recorded

_ENGINE = """def start(model, eager=False):
    return model


def stop():
    pass


class Worker:
    def warm_up(self, size):
        pass
"""
PLUGIN = {
    "plug/run.py": """from engine.core import Worker, start, stop


class OwnWorker(Worker):
    def warm_up(self, size):
        return size


def run(model):
    start(model, eager=True)
    stop()
""",
    "README.md": "A plug-in.\n",
}


def added(path: str, text: str) -> dict[str, Any]:
    """A file that a recorded commit adds."""
    lines = text.splitlines()
    patch = "\n".join([f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)])
    return {"filename": path, "status": "added", "additions": len(lines), "deletions": 0, "patch": patch}


def _changed(patch: str) -> dict[str, Any]:
    return {"filename": "engine/core.py", "status": "modified", "additions": 1, "deletions": 2, "patch": patch}


def upstream() -> RecordedRepository:
    """A day of three commits: one requires nothing new, one removes a parameter that a plug-in passes, one a function."""
    first = recorded(
        1,
        message="Begin (#1)",
        date="2026-02-03T12:00:00+00:00",
        files=[added("engine/__init__.py", ""), added("engine/core.py", _ENGINE)],
    )
    docs = recorded(2, message="[Docs] Say more (#2)", files=[added("docs/index.md", "Words.\n")], pull=None)
    eager = recorded(
        3,
        message="[Misc] Tidy start (#3)",
        files=[_changed("@@ -1,3 +1,3 @@\n-def start(model, eager=False):\n+def start(model):\n     return model\n ")],
        pull=None,
    )
    stop = recorded(
        4,
        message="[Misc] Tidy stop (#4)",
        files=[_changed("@@ -3,7 +3,3 @@\n \n \n-def stop():\n-    pass\n-\n-\n class Worker:")],
        pull=None,
    )
    return RecordedRepository(with_git_shas([first, docs, eager, stop]))


def plugin(files: Mapping[str, str] = PLUGIN) -> RecordedRepository:
    """A plug-in with these files."""
    commit = recorded(
        1, message="Begin", date="2026-01-30T12:00:00+00:00", files=[added(*each) for each in files.items()]
    )
    return RecordedRepository(with_git_shas([commit]))
