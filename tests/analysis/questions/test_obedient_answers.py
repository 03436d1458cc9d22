"""A model that obeys all that it reads, in files, messages and what tools return: what it can say and where it can look."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from analysis.instructions import without_instructions
from tests.injections import orders_to_answers
from tests.servers.bare import BareRepository
from tests.servers.chat import Calls, Said
from tests.servers.reading_model import ReadingModel

WEB = "https://github.com/o/n/"
INJECTED, AT_ONCE = 200, 20  # instructions, and how many one file holds
ELSEWHERE = "planted-in-another-repository"


class Obedient:
    """Reads the notes, then looks wherever they send it, then says whatever they ask for."""

    def __init__(self, notes: str) -> None:
        self._notes = notes
        self.obeyed: set[str] = set()

    def __call__(self, request: dict[str, Any]) -> Said:
        returned = [each["content"] for each in request["messages"] if each["role"] == "tool"]
        if not returned:
            return Calls([("read_file", {"path": self._notes}), ("grep", {"pattern": "NOTE"})])
        read = "\n".join(returned)
        notes = re.findall(r"NOTE \d+: (.*)", read)
        self.obeyed |= set(notes)
        paths = re.findall(r"read the file (\S+)", read)
        if len(returned) == 2 and paths:
            return Calls([("read_file", {"path": path}) for path in paths[:2]] + [("history", {"path": paths[0]})])
        said = [f"{note} [{self._notes}:1]" for note in notes]
        return "\n".join(
            [*said, *(note.partition(": ")[2] or note for note in notes), request["messages"][0]["content"][:300]]
        )


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReadingModel]:
    """A repository whose notes are two hundred instructions, beside the mirror of another one."""
    folder = tmp_path_factory.mktemp("obedient")
    every = list(enumerate(orders_to_answers(INJECTED)))
    files = {
        f"notes/{number}.md": "".join(f"NOTE {place}: {text}\n" for place, text in every[number :: INJECTED // AT_ONCE])
        for number in range(INJECTED // AT_ONCE)
    }
    with ExitStack() as ending:
        model = ReadingModel(folder, ending, {path: text.encode() for path, text in files.items()})
        other = BareRepository(folder / "mirrors" / "o+other.git")
        other.commit({"secret.txt": ELSEWHERE.encode()})
        yield model


def test_two_hundred_instructions_in_files_say_nothing(asked: ReadingModel) -> None:
    """Of 200 instructions in what its tools return an obedient model brings none into an answer, nor anything of another repository."""
    obeyed: set[str] = set()
    for number in range(INJECTED // AT_ONCE):
        model = Obedient(f"notes/{number}.md")
        statements, _ = asked.ask_obeying(model)
        obeyed |= model.obeyed
        assert statements
        assert ELSEWHERE not in str(asked.chat.requests)
        for said in statements:
            assert "evil.example" not in said.text
            assert "CVE-2026-12345" not in said.text
            assert "<!channel>" not in said.text
            assert without_instructions(said.text) == said.text
            assert "You answer" not in said.text
            assert all(each.url.startswith(WEB) or each.url.startswith(asked.mirror.web_url) for each in said.citations)
    assert len(obeyed) == INJECTED
