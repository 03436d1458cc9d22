"""Which requests the app answers: those that Slack sends to the installation of its token, and no others."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pytest
from slack_bolt import BoltRequest

from bot.slack.app import refusal
from bot.slack.web import Web
from bot.slack.web_files import is_slacks
from loopback.slack import LoopbackSlack
from loopback.slack.server import Reply

Json = dict[str, Any]
API = "https://slack.com/api/"


class Slack(LoopbackSlack):
    """Says other things of the bot than a workspace of its own would."""

    said: Mapping[str, Any] = MappingProxyType({})

    def api(self, method: str, params: Json, token: str | None) -> Reply:
        reply = super().api(method, params, token)
        return reply._replace(body={**reply.body, **self.said}) if method == "auth.test" else reply


@pytest.fixture
def slack() -> Iterator[Slack]:
    with Slack() as server:
        yield server


def refused(slack: Slack, payloads: dict[str, Json]) -> dict[str, str]:
    """Why payloads are refused, by their kind."""
    web = Web(slack.bot_token, slack.url)
    found = {kind: refusal(BoltRequest(mode="socket_mode", body=body), web) for kind, body in payloads.items()}
    return {kind: why for kind, why in found.items() if why}


def sent(
    team: str | None = "T0LOCAL", enterprise: str | None = None, app: str = "A0LOCAL", *, whole: bool = False
) -> dict[str, Json]:
    """What Slack sends to an installation, each kind with what tells the installation."""
    authorization = {"enterprise_id": enterprise, "team_id": team, "user_id": "U0BOT", "is_enterprise_install": whole}
    who: Json = {"user": {"id": "U0ADA", "team_id": team}, "is_enterprise_install": whole}
    who |= {"team": team and {"id": team}, "enterprise": enterprise and {"id": enterprise}}
    view = {"id": "V1", "callback_id": "ask", "team_id": team, "app_id": app, "app_installed_team_id": team}
    return {
        "event": {"type": "event_callback", "team_id": team, "api_app_id": app, "event": {"type": "message"}, "authorizations": [authorization]},
        "command": {"command": "/vllm-digest", "team_id": team, "enterprise_id": enterprise, "api_app_id": app},
        "click": {"type": "block_actions", "api_app_id": app, **who},
        "form": {"type": "view_submission", "api_app_id": app, **who, "view": view},
        "closed form": {"type": "view_closed", "api_app_id": app, **who, "view": view},
        "shortcut": {"type": "message_action", **who},
    }  # fmt: skip


FORMS = {"form", "closed form"}


def test_only_requests_to_the_own_installation_are_answered(slack: Slack) -> None:
    """Each kind is answered for the token's workspace and app, and refused for another workspace, organisation or app."""
    every = sent().keys()
    assert refused(slack, sent()) == {}
    assert refused(slack, sent("T0OTHER")).keys() == every
    assert refused(slack, sent(None)).keys() == every
    assert (
        refused(slack, sent(enterprise="E0OTHER")).keys() == every - FORMS
    )  # which name the organisation of the person
    assert refused(slack, sent(app="A0OTHER")).keys() == every - {"shortcut"}  # which names no app


def test_a_workspace_of_an_organisation_is_told_by_both(slack: Slack) -> None:
    """In a workspace of an Enterprise organisation neither another organisation nor another of its workspaces is answered."""
    slack.said = {"enterprise_id": "E0OWN"}
    assert refused(slack, sent(enterprise="E0OWN")) == {}
    assert refused(slack, sent("T0OTHER", "E0OWN")).keys() == sent().keys()
    assert refused(slack, sent(enterprise="E0OTHER")).keys() == sent().keys() - FORMS


def test_an_install_into_a_whole_organisation_has_no_workspace(slack: Slack) -> None:
    """Where the token is of a whole organisation every workspace of it is answered, and no other organisation."""
    slack.said = {"enterprise_id": "E0OWN", "team_id": None, "is_enterprise_install": True}
    for team in (None, "T0ANY"):
        assert refused(slack, sent(team, "E0OWN", whole=True)) == {}
        assert refused(slack, sent(team, "E0OTHER", whole=True)).keys() == sent().keys()
        assert refused(slack, sent(team, whole=True)).keys() == sent().keys()


@pytest.mark.parametrize("context", ["T0LOCAL", "T0OTHER"])  # Slack names either side's
def test_people_of_other_organisations_are_answered_in_shared_channels(slack: Slack, context: str) -> None:
    """With Slack Connect the event and the person are of another workspace; the installation counts."""
    abroad: Json = {"id": "U0EVE", "team_id": "T0OTHER"}
    own = sent()
    event = {
        "team_id": "T0OTHER",
        "enterprise_id": "E0OTHER",
        "context_team_id": context,
        "is_ext_shared_channel": True,
    }
    form = {"user": abroad, "team": {"id": "T0OTHER", "enterprise_id": "E0OTHER"}}
    connected = {"event": own["event"] | event, "click": own["click"] | {"user": abroad}, "form": own["form"] | form}
    assert refused(slack, connected) == {}


def test_the_settings_page_may_ask_of_no_workspace(slack: Slack) -> None:
    """The question whether the address is ours names no workspace."""
    assert refused(slack, {"question": {"type": "url_verification", "challenge": "x"}}) == {}


@pytest.mark.parametrize(
    ("url", "api"),
    [
        ("https://hooks.slack.com/commands/1", API),
        ("https://slack.com/x", API),
        ("https://FILES.slack.com", API),
        ("https://hooks.slack-gov.com/x", "https://slack-gov.com/api/"),
        ("http://127.0.0.1:5000/hooks/1", "http://127.0.0.1:5000/api/"),
        ("http://[::1]:5000/hooks/1", "http://[::1]:5000/api/"),
        ("http://slack_mock:5000/hooks/1", "http://slack_mock:5000/api/"),
    ],
)
def test_addresses_of_slack(url: str, api: str) -> None:
    """The API's own host and, of a name, its subdomains are Slack's."""
    assert is_slacks(url, api)


@pytest.mark.parametrize(
    ("url", "api"),
    [
        ("", API),
        ("http://hooks.slack.com/x", API),
        ("https://evilslack.com/x", API),
        ("https://slack.com.evil.example/x", API),
        ("https://hooks.slack.com@evil.example/x", API),
        ("https://evil.example@hooks.slack.com/x", API),
        ("https://evil.example%2f.slack.com/x", API),
        ("https://evil.example\\.slack.com/x", API),
        ("https://evil.example\\@hooks.slack.com/x", API),
        ("https://evil.example\t.slack.com/x", API),
        ("https://evil.example\x00.slack.com/x", API),
        (" https://hooks.slack.com/x", API),
        ("https://hooks.slack.com\n", API),
        ("https://evil.example?.slack.com/x", API),
        ("https://evil.example#.slack.com/x", API),
        ("https://hooks.slac\u212a.com/x", API),
        ("https://hooks.slack.com:8443/x", API),
        ("http://127.0.0.1:5001/x", "http://127.0.0.1:5000/api/"),
        ("http://10.0.0.1/x", "http://127.0.0.1:5000/api/"),
        ("http://x.127.0.0.1/x", "http://127.0.0.1:5000/api/"),
        ("http://[::ffff:10.0.0.1]/x", "http://[::ffff:127.0.0.1]/api/"),
    ],
)
def test_addresses_that_are_not_slacks(url: str, api: str) -> None:
    """Another host, scheme or port is not Slack's, nor what parsers read in two ways; an IP address has no subdomains."""
    assert not is_slacks(url, api)
