"""The bot without Slack and GitHub: here the sample day, offline and without a token; in `workspace` a Slack on this machine.

This is the only package that imports `loopback`; it is not imported when the bot runs in a real Slack.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from analysis.sources.github import GitHub
from bot.services.factory import Services
from bot.store import Store, open_engine
from loopback.github import LoopbackGitHub
from loopback.sample import SAMPLE_DAY, SAMPLE_REPOSITORY, sample_repository

__all__ = ["SAMPLE_DAY", "SAMPLE_REPOSITORY", "sample_services"]


@contextmanager
def sample_services() -> Iterator[Services]:
    """Open services on a loopback GitHub with the sample day and a temporary store."""
    with (
        TemporaryDirectory(prefix="vllm-digest-") as folder,
        LoopbackGitHub({SAMPLE_REPOSITORY: sample_repository()}, folder=Path(folder)) as server,
    ):
        store = Store(open_engine(f"sqlite:///{Path(folder, 'sample.db')}"))
        with closing(store), closing(GitHub(server.url, "sample")) as github:
            yield Services(github, store)
