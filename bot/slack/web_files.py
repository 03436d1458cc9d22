"""Downloads of files that people shared in Slack."""

import re
from collections.abc import Callable, Mapping
from http.client import HTTPException, HTTPMessage
from typing import IO, Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from analysis.errors import Misuse, translated_by
from analysis.locale import Phrase
from bot.slack.web_calls import File
from bot.slack.web_errors import Refused, SlackFailure, Unanswered, silent

_TIMEOUT = 30  # seconds without a byte
_TOO_MANY, _SERVER_ERROR = 429, 500
# Narrower than what parsers take, which disagree about user names, %, backslashes and control characters.
_HOST = r"(?P<name>(?:[\w-]+\.)*[\d_-]*[a-z][\w-]*)|[\d.]+|\[[0-9a-f:.]+\]"  # the last label of a name has a letter
_URL = re.compile(rf"(?ai)(?P<scheme>https?)://(?:{_HOST})(?P<port>:\d+)?(?=/|\Z)")


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirect: Slack sends whoever lacks access to its sign-in page, and the token would go along."""

    def redirect_request(
        self,
        req: Request,  # noqa: ARG002 (the signature is the standard library's)
        fp: IO[bytes],  # noqa: ARG002
        code: int,  # noqa: ARG002
        msg: str,  # noqa: ARG002
        headers: HTTPMessage,  # noqa: ARG002
        newurl: str,  # noqa: ARG002
    ) -> None:
        return None


_OPENER = build_opener(_NoRedirect)


def download(file: File, token: str, api_url: str, most: int) -> bytes:
    """Return the content of a file of at most `most` bytes, from the Slack whose Web API is at `api_url`.

    Raise `Misuse` for a larger one, `Refused` for one that is stored elsewhere or that Slack does not hand out.
    """
    if (file.size or 0) > most:
        raise _too_large(file, most)
    address = file.url_private or ""
    if not is_slacks(address, api_url):
        raise _not_handed_out("external")
    request = Request(address, headers={"Authorization": f"Bearer {token}"})  # noqa: S310 (an address of Slack's)
    with translated_by(_TABLE), _OPENER.open(request, timeout=_TIMEOUT) as answer:
        content: bytes = answer.read(most + 1)
        is_page = answer.headers.get_content_type() == "text/html"
    if len(content) > most:
        raise _too_large(file, most)
    if is_page and file.mimetype != "text/html":
        raise _not_handed_out("signed_out")
    return content


def is_slacks(url: str, api_url: str) -> bool:
    """Return whether an address is of the Slack whose API is at `api_url`, such as files.slack.com of slack.com."""
    own, api = _URL.match(url), _URL.match(api_url)
    if not own or not api or own["scheme"] != api["scheme"]:
        return False
    domain = ".".join((api["name"] or "").lower().split(".")[-2:])
    is_below = not own["port"] and bool(domain) and (own["name"] or "").lower().endswith(f".{domain}")
    return is_below or own[0].lower() == api[0].lower()


def _too_large(file: File, most: int) -> Misuse:
    return Misuse(
        Phrase(
            "{name} is larger than {most} MB; send only the part with the failure",
            name=file.name or file.id,
            most=most // 1_000_000,
        )
    )


def _not_handed_out(code: str) -> Refused:
    return Refused(Phrase("Slack did not provide the file ({code}); paste its text instead", code=code), code)


def _failure(exc: HTTPError) -> SlackFailure:
    if exc.code == _TOO_MANY or exc.code >= _SERVER_ERROR:
        return Unanswered(f"Slack answered with status {exc.code}")
    return _not_handed_out(str(exc.code))


_TABLE: Mapping[type[Exception], Callable[[Any], SlackFailure]] = {
    HTTPError: _failure,
    HTTPException: silent,
    OSError: silent,
}
