"""Give the recorded commits of the sample the SHAs that git computes for them: `python -m loopback.sample` after an edit."""

import json
from pathlib import Path

from loopback.git.history import History

_FILE = Path(__file__).with_name("commits.jsonl")


def rewrite(text: str) -> str:
    """Return recorded commits, one a line, with git's SHAs as theirs, as their parents', and in their messages."""
    commits = [json.loads(line) for line in text.split("\n") if line]
    history = History(commits)
    lines = [
        json.dumps(
            {
                **commit,
                "sha": history.shas[commit["sha"]],
                "parents": [history.shas[parent] for parent in commit["parents"]],
                "message": history.message(commit),
            },
            ensure_ascii=False,
        )
        for commit in commits
    ]
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    _FILE.write_text(rewrite(_FILE.read_text("utf-8")), "utf-8")
