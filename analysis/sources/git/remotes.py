"""Remotes that git may fetch from, each with its token, and the names that refs may have."""

import re
from base64 import b64encode
from typing import NamedTuple
from urllib.parse import urlsplit

FILTER = "blob:none"

_URL = re.compile(r"https?://([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9a-fA-F:]+\])(:\d{1,5})?(/[A-Za-z0-9._~%+-]+)+/?")
_NO_REF_NAME = re.compile(  # git-check-ref-format(1)
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|^[-/.]|^@?$|[/.]$"
)
_API_HOST = "api."  # api.github.com serves github.com, api.NAME.ghe.com serves NAME.ghe.com


class Remote(NamedTuple):
    """Where a repository is fetched from, and the token for that server if there is one."""

    url: str
    token: str | None = None

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    def configuration(self) -> dict[str, str]:
        """Return git's configuration of the remote `origin`; the token is for its own origin only."""
        url = urlsplit(self.url)
        configured = {
            "remote.origin.url": self.url,
            "remote.origin.promisor": "true",
            "remote.origin.partialCloneFilter": FILTER,
        }
        if self.token:
            coded = b64encode(f"x-access-token:{self.token}".encode()).decode()
            configured[f"http.{url.scheme}://{url.netloc}/.extraHeader"] = f"Authorization: Basic {coded}"
        return configured


def is_clonable(url: str) -> bool:
    """Return whether an address is a plain one of HTTP(S): no other protocol, no name or password, no option."""
    return bool(_URL.fullmatch(url))


def is_ref_name(name: str) -> bool:
    """Return whether a branch or tag can have this name, and git cannot take it for anything else."""
    return not _NO_REF_NAME.search(name)


def is_server_of(api_url: str, clone_url: str) -> bool:
    """Return whether the server of an API is the one that a repository is cloned from, as GitHub names its hosts."""
    api, clone = urlsplit(api_url), urlsplit(clone_url)
    same_host = clone.hostname in (api.hostname, (api.hostname or "").removeprefix(_API_HOST))
    return bool(clone.hostname) and same_host and (api.scheme, api.port) == (clone.scheme, clone.port)
