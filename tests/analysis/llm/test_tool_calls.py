"""The pieces of tool calls, as servers stream them, become calls."""

import pytest
from openai.types.chat.chat_completion_chunk import ChoiceDeltaToolCall

from analysis.llm.tool_calls import CallCollector, ToolCall

Piece = tuple[int, str | None, str | None, str | None]


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        ([(0, "a", "grep", ""), (0, None, None, '{"x"'), (0, None, None, ": 1}")], [("a", "grep", '{"x": 1}')]),
        ([(0, "a", "grep", "{"), (1, "b", "pull", ""), (0, None, None, "}")], [("a", "grep", "{}"), ("b", "pull", "")]),
        ([(0, "a", "grep", "{}"), (0, "b", "pull", "{}")], [("a", "grep", "{}"), ("b", "pull", "{}")]),
        ([(0, "a", "grep", "{"), (0, "a", "grep", "}")], [("a", "grep", "{}")]),
        ([(0, None, "grep", "{}"), (1, "", "pull", None)], [("call_1", "grep", "{}"), ("call_2", "pull", "")]),
        ([], []),
    ],
)
def test_pieces_are_joined(pieces: list[Piece], calls: list[ToolCall]) -> None:
    """Pieces belong to the last call of their index; servers that number none, or send whole calls, are understood."""
    collector = CallCollector()
    for index, call_id, name, arguments in pieces:
        told = {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}
        collector.add([ChoiceDeltaToolCall.model_validate(told)])
    assert list(collector.calls) == calls
