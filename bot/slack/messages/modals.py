"""The modals: for writing a question, and for a subscription, with the validation of its fields."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from analysis.errors import Misuse
from analysis.locale import LANGUAGES, Language, catalogue
from analysis.models import Repository
from analysis.writing.labels import WEEKDAYS
from bot.services import schedule
from bot.slack.messages.subscriptions import RELEASES, TIERS
from bot.slack.parsing.input import parse_repository
from bot.slack.parsing.requests import (
    ButtonRequest,
    SubscriptionForm,
    find,
    from_terms,
    parse_request,
    request_row,
)
from bot.slack.parsing.subscription_options import OPTIONS, SubscriptionOptions
from bot.store import Subscription, Terms

ASK = "ask"
_LONGEST = 1_000  # characters of a question
SUBSCRIBE = "subscribe"
EXAMPLE = Repository(owner="owner", name="name")  # is shown, but not filled in
LONGEST_ERROR = 150  # characters of a field's error
_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "repository": parse_repository,
    **{field: option.parse for field, option in OPTIONS.items()},
}


def ask_modal(button: ButtonRequest, language: Language) -> dict[str, Any]:
    """Return the modal that an "Ask" button opens; its private_metadata holds the click."""
    say = catalogue(language)
    field = {
        "type": "plain_text_input",
        "action_id": "question",
        "multiline": True,
        "max_length": _LONGEST,
        "focus_on_load": True,
        "placeholder": _plain(say("For example: does this change a default?")),
    }
    return {
        "type": "modal",
        "callback_id": ASK,
        "private_metadata": json.dumps(request_row(button), ensure_ascii=False),
        "title": _plain(say("Ask")),
        "submit": _plain(say("Ask")),
        "close": _plain(say("Cancel")),
        "blocks": [{"type": "input", "block_id": "question", "element": field, "label": _plain(say("Your question"))}],
    }


def asked_in(view: Mapping[str, Any]) -> tuple[ButtonRequest, str]:
    """Return the button click that opened a submitted modal, and the question in it."""
    written = str(find(view, "state.values.question.question.value") or "")
    button = parse_request(json.loads(view["private_metadata"]))
    if not isinstance(button, ButtonRequest):
        raise TypeError(f"not a button: {button.kind}")
    return button, written.strip()


def no_question(language: Language) -> dict[str, str]:
    """Return the error for an empty field."""
    return {"question": catalogue(language)("Write your question")}


def subscription_modal(
    usual: Terms, language: Language, opened_in: str, changes: Subscription | None = None
) -> dict[str, Any]:
    """Return the modal, filled with the terms of the subscription `changes`, or with the defaults `usual`.

    Its private_metadata holds the channel where it was opened and the subscription's id.
    """
    say = catalogue(language)
    return {
        "type": "modal",
        "callback_id": SUBSCRIBE,
        "private_metadata": json.dumps({"changes": changes.id if changes else None, "opened_in": opened_in}),
        "title": _plain(say("Edit subscription") if changes else say("Subscribe to digests")),
        "submit": _plain(say("Save")),
        "close": _plain(say("Cancel")),
        "blocks": _fields(changes.terms if changes else usual, language),
    }


def _fields(terms: Terms, language: Language) -> list[dict[str, Any]]:
    """Return the inputs, filled with `terms`."""
    say = catalogue(language)
    languages: dict[str, str] = {
        each: catalogue(each).context("name of this language", "English") for each in LANGUAGES
    }
    tiers = {each.value: say(label) for each, label in TIERS.items()}
    days = zip(schedule.WEEKDAYS, WEEKDAYS, strict=True)
    weekdays: dict[str, str] = {"off": say.context("weekly digest", "off"), **{day: say(label) for day, label in days}}
    repository = _line("" if terms.repository == EXAMPLE else str(terms.repository), str(EXAMPLE))
    paths = _line(", ".join(terms.paths), "src/, docs/**")
    watch = _line(", ".join(terms.watch), "src/api, HTTP_TIMEOUT, Client.send")
    downstream = _line(", ".join(map(str, terms.downstream)), "owner/plug-in")
    of_paths = say("Comma-separated, .gitignore syntax; empty for all")
    of_watch = say("Comma-separated paths, names, variables or flags; commits that touch one are high in this channel")
    of_downstream = say(
        "Your plug-in or fork, comma-separated owner/name[@branch]; each digest starts with what breaks it"
    )
    releases = {value: say.context("releases", label) for value, label in RELEASES.items()}
    of_releases = say("A digest when a release is tagged, with what it brings and what it breaks")
    of_weekly = say("Comes on this day at the same time, with the last seven days")
    return [
        _input("channel", say("Channel"), _channel_select(terms.channel)),
        _input("repository", say("Repository (owner/name[@branch])"), repository),
        _input("at", say("Time"), {"type": "timepicker", "initial_time": f"{terms.time:%H:%M}"}),
        _input("timezone", say("Time zone"), _line(terms.tz.key, "Asia/Shanghai")),
        _input("language", say("Language"), _select(languages, terms.language)),
        _input("least", say("Lowest importance"), _select(tiers, terms.least.value)),
        _input("paths", say("Only these paths"), paths, optional=True, hint=of_paths),
        _input("watch", say("Watch"), watch, optional=True, hint=of_watch),
        _input("downstream", say("Downstream repositories"), downstream, optional=True, hint=of_downstream),
        _input("weekly", say("Weekly digest"), _select(weekdays, terms.weekly or "off"), hint=of_weekly),
        _input("releases", say("Releases"), _select(releases, terms.releases or "off"), hint=of_releases),
    ]


def notice_modal(text: str, language: Language) -> dict[str, Any]:
    """Return a modal that only explains why there is no form."""
    say = catalogue(language)
    return {
        "type": "modal",
        "title": _plain(say("Edit subscription")),
        "close": _plain(say("Cancel")),
        "blocks": [{"type": "section", "text": _plain(text)}],
    }


def opened_in(view: Mapping[str, Any]) -> str:
    """Return the channel in which the modal was opened; empty for the App Home."""
    return str(json.loads(view["private_metadata"])["opened_in"])


def filled_in(body: Mapping[str, Any], language: Language) -> tuple[SubscriptionForm | None, dict[str, str]]:
    """Parse a submitted modal into a request, or return None and the errors by field in `language`."""
    view = body["view"]
    found: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for name, parse in _PARSERS.items():
        try:
            found[name] = parse(_field_value(view, name).strip())
        except Misuse as exc:
            errors[name] = exc.translated(language)[:LONGEST_ERROR]
    if errors:
        return None, errors
    changes, options = json.loads(view["private_metadata"]).get("changes"), SubscriptionOptions(**found)
    return from_terms(body, _field_value(view, "channel"), options, changes, at_home=not opened_in(view)), {}


def _field_value(view: Mapping[str, Any], name: str) -> str:
    fields = ("value", "selected_conversation", "selected_time", "selected_option.value")
    return str(find(view, *(f"state.values.{name}.{name}.{field}" for field in fields)) or "")


def _input(name: str, label: str, element: dict[str, Any], *, optional: bool = False, hint: str = "") -> dict[str, Any]:
    field = element | {"action_id": name}
    block = {"type": "input", "block_id": name, "label": _plain(label), "element": field, "optional": optional}
    return block | {"hint": _plain(hint)} if hint else block


def _channel_select(chosen: str) -> dict[str, Any]:
    """Return the menu of channels: `chosen` is selected, or if it is empty the channel where the modal is open."""
    initial: dict[str, Any] = {"initial_conversation": chosen} if chosen else {"default_to_current_conversation": True}
    return {"type": "conversations_select", "filter": {"include": ["public", "private"]}, **initial}


def _line(written: str, example: str) -> dict[str, Any]:
    field = {"type": "plain_text_input", "placeholder": _plain(example), "max_length": 1000}
    return field | {"initial_value": written} if written else field


def _select(options: Mapping[str, str], chosen: str) -> dict[str, Any]:
    made = {value: {"text": _plain(text), "value": value} for value, text in options.items()}
    return {"type": "static_select", "options": list(made.values()), "initial_option": made[chosen]}


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}
