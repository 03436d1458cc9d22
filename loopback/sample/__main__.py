"""Give the recorded commits of the sample the SHAs that git computes for them: `python -m loopback.sample` after an edit."""

import json
from pathlib import Path

from loopback.git.history import with_git_shas

_FILES = [Path(__file__).with_name(name) for name in ("commits.jsonl", "plugin.jsonl")]


def rewrite(text: str) -> str:
    """Return recorded commits, one a line, with git's SHAs as theirs, as their parents', and in their messages."""
    commits = with_git_shas([json.loads(line) for line in text.split("\n") if line])
    return "".join(f"{json.dumps(commit, ensure_ascii=False)}\n" for commit in commits)


if __name__ == "__main__":
    for file in _FILES:
        file.write_text(rewrite(file.read_text("utf-8")), "utf-8")
