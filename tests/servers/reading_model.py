"""A commit in a mirrored repository, and a scripted model that answers questions about it with tools."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, nullcontext
from pathlib import Path
from typing import Any

from analysis.llm import ChatModel, UsageCounter
from analysis.models import Commit, Entry, Language, Statement
from analysis.questions.answering import Answering
from analysis.questions.question import Question, parse_question
from analysis.questions.tools import CommitTools
from analysis.writing.second_reading import Slot
from tests.factories import entry
from tests.planted import planted
from tests.servers.bare import BareRepository, GitServer
from tests.servers.bare import Entry as FileEntry
from tests.servers.chat import Calls, Said, SayOrCall, ScriptedChat
from tests.servers.mirrored import REPOSITORY, Place

KEY = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
BEFORE = b"MAX_WINDOW = 4\n\n\ndef pick(window):\n    return first(window)\n"
AFTER = b"MAX_WINDOW = 8\n\n\ndef pick(window):\n    return best_of(window)\n"
WORKER = b"""from engine.scheduler import pick


class Worker:
    retries = 3

    def pick_all(self, lanes):
        return [pick(lane) for lane in lanes]
"""
FILES: dict[str, bytes | FileEntry] = {
    "engine/worker.py": WORKER,
    "engine/unread.py": b"def linger():\n    return None\n",
    "engine/long.py": b"".join(b"row_%d = %d\n" % (n, n) for n in range(2_000)),
    "engine/keys.py": f'STRIPE = "{KEY}"\n'.encode(),
    "engine/planted.env": "\n".join(text for text, _ in planted().values()).encode(),
    "README.md": b"# Engine\n\nA queue of lanes for batches.\n",
    "picture.png": b"\0\1\2",
    "huge.txt": b"x" * 2_100_000,
    "link.py": FileEntry(b"engine/worker.py", "link"),
    "module": FileEntry(b"1" * 40, "submodule"),
}


class Stored:
    """The stored commits of the repository, as a service has them."""

    def __init__(self, commits: Sequence[Commit] = ()) -> None:
        self.commits = commits

    def search(self, query: str) -> Sequence[Commit]:
        return [each for each in self.commits if query.lower() in each.message.lower()]


class ReadingModel:
    """A mirrored repository with one commit to ask about, and a model that says what it is told to."""

    def __init__(self, folder: Path, ending: ExitStack, files: dict[str, bytes] | None = None) -> None:
        place = Place(folder, ending)
        self.bare: BareRepository = place.bare
        self.server: GitServer = place.server
        tree = {**FILES, **(files or {})}
        first = self.bare.commit({**tree, "engine/scheduler.py": BEFORE}, message=b"Add the scheduler")
        sha = self.bare.commit(
            {**tree, "engine/scheduler.py": AFTER}, first, message=b"Pick the best lane (#12)\n\nBatches were slow."
        )
        self.mirror = place.cloned()
        self.commit = self.mirror.read_commit(sha)
        self.stored = Stored([self.mirror.read_commit(first)])
        self.chat = ending.enter_context(ScriptedChat(in_turn([""])))
        self.model = ending.enter_context(closing(self.new_model()))

    def new_model(self) -> ChatModel:
        return ChatModel("scripted", base_url=self.chat.url, api_key="key", timeout=5, retries=0)

    def entry(self) -> Entry:
        return entry(self.commit)

    def tools(self) -> CommitTools:
        return CommitTools(self.commit, self.mirror, self.stored.search)

    def ask(
        self,
        *says: Said,
        language: Language = "en",
        text: str = "who calls pick?",
        reserve: Slot = lambda _: nullcontext(),
    ) -> tuple[list[Statement], Answering]:
        """Ask a question that the model answers with its replies in their order, the last one again and again."""
        if says:
            self.chat.say = in_turn(says)
        self.chat.requests.clear()
        question = Question(parse_question(text), REPOSITORY, (self.entry(),))
        answering = Answering(question, language, self.model, UsageCounter(), tools=self.tools(), reserve=reserve)
        return list(answering), answering

    def ask_obeying(self, say: SayOrCall) -> tuple[list[Statement], Answering]:
        """Ask a question that the model answers with what `say` makes of each request."""
        self.chat.say = say
        return self.ask()

    def results(self) -> list[str]:
        """Return what the tools gave in the last request, without the marks around it."""
        messages = self.chat.requests[-1]["messages"]
        return ["\n".join(each["content"].split("\n")[1:-1]) for each in messages if each["role"] == "tool"]


def in_turn(says: Sequence[Said]) -> SayOrCall:
    """Make a model that says one after the other, and the last for ever."""
    left: Iterator[Said] = iter(says)

    def say(_: dict[str, Any]) -> Said:
        return next(left, says[-1])

    return say


def reading(*paths: str) -> Calls:
    """Return a reply that reads files."""
    return Calls([("read_file", {"path": path}) for path in paths])
