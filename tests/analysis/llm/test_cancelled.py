"""Replies that nobody waits for any more."""

from contextlib import closing
from threading import Event

import pytest

from analysis.cancellation import Cancelled, cancellable
from analysis.llm import ChatModel, ModelMessage, UsageCounter
from tests.servers.chat import ScriptedChat

ASKED = [ModelMessage("user", "Say much. " * 40)]


@pytest.mark.parametrize("closed", [False, True])
def test_a_reply_that_is_not_read_to_its_end_is_counted(closed: bool) -> None:
    """Cancelled or closed, it ends at once; the server would report its tokens at the end, so they are estimated."""
    cancelled, usage = Event(), UsageCounter()
    with ScriptedChat(lambda _: "word " * 400) as chat, closing(ChatModel("scripted", base_url=chat.url)) as model:
        parts = model.talk(ASKED, max_tokens=900, usage=usage)
        with cancellable(cancelled.is_set):
            first = next(parts)
            if closed:
                parts.close()
            else:
                cancelled.set()
                with pytest.raises(Cancelled):
                    next(parts)
    assert usage.calls == 1
    assert usage.input is not None
    assert 50 <= usage.input <= 200
    assert usage.output is not None
    assert len(first) / 8 <= usage.output <= len(first)
