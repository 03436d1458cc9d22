"""Asks over HTTP, and takes every status for an answer."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen


class Got(NamedTuple):
    status: int
    body: Any


def ask(
    url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None, method: str | None = None
) -> Got:
    request = Request(url, body, dict(headers or {}), method=method)
    try:
        with urlopen(request, timeout=10) as answer:
            status, text = answer.status, answer.read()
    except HTTPError as error:
        with error:
            status, text = error.code, error.read()
    try:
        return Got(status, json.loads(text))
    except ValueError:
        return Got(status, text.decode())
