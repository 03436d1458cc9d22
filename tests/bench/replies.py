"""What a scripted model says in a benchmark: true of the commit that it is asked about, so that no check asks again."""

import json
import re
from itertools import islice
from typing import Any

from analysis.models import Insight
from tests.servers.conversing import changed_lines

_WORD = re.compile(r"\b[A-Za-z_]\w{3,}\b")
_WORDS = 5  # of a title
_STATEMENTS = 12  # of an answer; more are not kept


def true_reply(request: dict[str, Any]) -> str:
    """Say something true of the commit that a request is about."""
    prompt = str(request["messages"][1]["content"])
    return _analysis(prompt) if "response_format" in request else _answer(prompt)


def _analysis(prompt: str) -> str:
    """An analysis that names words of the commit's title, in the language of the prompt."""
    title = re.findall(r"^message:\n(.*)$", prompt, re.MULTILINE)[0]
    words = " ".join(f"`{word}`" for word in _WORD.findall(title)[:_WORDS])
    summary = f"标题里有 {words}，改动与此有关。" if "简体中文" in prompt else f"It is about {words}."
    whole = {"scope": [], "insight": Insight().model_dump(), "risks": [], "advice": []}
    return json.dumps({"summary": summary, **whole, "move": "keep", "move_reason": ""}, ensure_ascii=False)


def _answer(prompt: str) -> str:
    """A statement a changed line, each with its place."""
    named = (
        (max(words, key=len), f"{path}:{number}")
        for path, number, text in changed_lines(prompt)
        if (words := _WORD.findall(text))
    )
    return "\n\n".join(
        f"Among what this commit changes there is `{name}` in this place [{place}]."
        for name, place in islice(named, _STATEMENTS)
    )
