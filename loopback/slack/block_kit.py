"""Block Kit: the blocks and elements of messages, modals and Home tabs, with their required fields and limits.

Only fields that the bot sends are known; any other is refused, as Slack refuses those that it does not know.
Source: docs.slack.dev/reference/block-kit.
"""

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from loopback.slack.workspace import Json


class Part(BaseModel):
    """A JSON object in which no other fields may stand."""

    model_config = ConfigDict(extra="forbid", strict=True)


# Texts


class Plain(Part):
    type: Literal["plain_text"]
    text: str = Field(min_length=1)
    emoji: bool = True


class Mrkdwn(Part):
    type: Literal["mrkdwn"]
    text: str = Field(min_length=1)
    verbatim: bool = False


Text = Annotated[Plain | Mrkdwn, Field(discriminator="type")]


def _at_most(most: int) -> AfterValidator:
    """Return a check of a text's length, in characters."""

    def check(text: Plain | Mrkdwn) -> Plain | Mrkdwn:
        if len(text.text) > most:
            raise ValueError(f"must be less than {most + 1} characters")
        return text

    return AfterValidator(check)


# Elements


class Confirm(Part):
    title: Annotated[Plain, _at_most(100)]
    text: Annotated[Text, _at_most(300)]
    confirm: Annotated[Plain, _at_most(30)]
    deny: Annotated[Plain, _at_most(30)]
    style: Literal["primary", "danger"] = "primary"


class Element(Part):
    action_id: str | None = Field(default=None, max_length=255)


class Button(Element):
    type: Literal["button"]
    text: Annotated[Plain, _at_most(75)]
    url: str | None = Field(default=None, max_length=3000)
    value: str | None = Field(default=None, max_length=2000)
    style: Literal["primary", "danger"] = "primary"
    confirm: Confirm | None = None


class Rating(Part):
    text: Annotated[Plain, _at_most(75)]
    value: str = Field(min_length=1, max_length=2000)
    accessibility_label: str | None = Field(default=None, max_length=75)


class FeedbackButtons(Element):
    type: Literal["feedback_buttons"]
    positive_button: Rating
    negative_button: Rating


class Option(Part):
    text: Annotated[Plain, _at_most(75)]
    value: str = Field(min_length=1, max_length=150)


class Overflow(Element):
    type: Literal["overflow"]
    options: list[Option] = Field(min_length=1, max_length=5)
    confirm: Confirm | None = None


class Input(Element):
    placeholder: Annotated[Plain, _at_most(150)] | None = None
    focus_on_load: bool = False


class StaticSelect(Input):
    type: Literal["static_select"]
    options: list[Option] = Field(min_length=1, max_length=100)
    initial_option: Option | None = None

    @model_validator(mode="after")
    def _offer_what_is_chosen(self) -> "StaticSelect":
        if self.initial_option and self.initial_option not in self.options:
            raise ValueError("initial_option must be among the options")
        return self


class ConversationsSelect(Input):
    type: Literal["conversations_select"]
    initial_conversation: str | None = None
    default_to_current_conversation: bool = False
    filter: dict[str, Any] | None = None


class TimePicker(Input):
    type: Literal["timepicker"]
    initial_time: str | None = None


class DatePicker(Input):
    type: Literal["datepicker"]
    initial_date: str | None = None


class PlainTextInput(Input):
    type: Literal["plain_text_input"]
    initial_value: str | None = None
    multiline: bool = False
    max_length: int | None = None


Choice = StaticSelect | ConversationsSelect | TimePicker | DatePicker


# Rich text


class Style(Part):
    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False


class Styled(Part):
    style: Style | None = None


class Words(Styled):
    type: Literal["text"]
    text: str = Field(min_length=1, max_length=40_000)


class Link(Styled):
    type: Literal["link"]
    url: str = Field(min_length=1, max_length=3000)
    text: str | None = None


class User(Styled):
    type: Literal["user"]
    user_id: str


class ChannelName(Styled):
    type: Literal["channel"]
    channel_id: str


class Section(Part):
    type: Literal["rich_text_section"]
    elements: list[Annotated[Words | Link | User | ChannelName, Field(discriminator="type")]]


class List(Part):
    type: Literal["rich_text_list"]
    style: Literal["bullet", "ordered"]
    indent: int = Field(default=0, ge=0, le=8)
    elements: list[Section]


# Blocks


class Block(Part):
    block_id: str | None = Field(default=None, max_length=255)


class SectionBlock(Block):
    type: Literal["section"]
    text: Annotated[Text, _at_most(3000)]


class HeaderBlock(Block):
    type: Literal["header"]
    text: Annotated[Plain, _at_most(150)]


class ContextBlock(Block):
    type: Literal["context"]
    elements: list[Annotated[Text, _at_most(3000)]] = Field(min_length=1, max_length=10)


class ActionsBlock(Block):
    type: Literal["actions"]
    elements: list[Annotated[Button | Overflow | Choice, Field(discriminator="type")]] = Field(
        min_length=1, max_length=25
    )


class ContextActionsBlock(Block):
    type: Literal["context_actions"]
    elements: list[FeedbackButtons] = Field(min_length=1, max_length=5)


class InputBlock(Block):
    type: Literal["input"]
    label: Annotated[Plain, _at_most(2000)]
    element: Annotated[PlainTextInput | Choice, Field(discriminator="type")]
    hint: Annotated[Plain, _at_most(2000)] | None = None
    optional: bool = False


class MarkdownBlock(Block):
    type: Literal["markdown"]
    text: str = Field(min_length=1, max_length=12_000)


class RichTextBlock(Block):
    type: Literal["rich_text"]
    elements: list[Annotated[Section | List, Field(discriminator="type")]] = Field(min_length=1)


def _check_ids(blocks: list[Any]) -> list[Any]:
    """Check that block_ids are unique, and action_ids within their block."""
    scopes = [[block.block_id for block in blocks]]
    scopes += [[getattr(each, "action_id", None) for each in getattr(block, "elements", ())] for block in blocks]
    for scope in scopes:
        names = [name for name in scope if name]
        if len(names) != len(set(names)):
            raise ValueError("ids must be unique")
    return blocks


_Anywhere = SectionBlock | HeaderBlock | ContextBlock | ActionsBlock | InputBlock | RichTextBlock
_MESSAGE: TypeAdapter[Any] = TypeAdapter(
    Annotated[
        list[Annotated[_Anywhere | MarkdownBlock | ContextActionsBlock, Field(discriminator="type")]],
        Field(max_length=50),
        AfterValidator(_check_ids),
    ]
)


class View(Part):
    blocks: Annotated[
        list[Annotated[_Anywhere, Field(discriminator="type")]], Field(max_length=100), AfterValidator(_check_ids)
    ]
    private_metadata: str = Field(default="", max_length=3000)
    callback_id: str = Field(default="", max_length=255)


class HomeView(View):
    type: Literal["home"]


class ModalView(View):
    type: Literal["modal"]
    title: Annotated[Plain, _at_most(24)]
    submit: Annotated[Plain, _at_most(24)] | None = None
    close: Annotated[Plain, _at_most(24)] | None = None

    @model_validator(mode="after")
    def _submit_a_form(self) -> "ModalView":
        if not self.submit and any(block.type == "input" for block in self.blocks):
            raise ValueError("a form needs a submit button")
        return self


_VIEW: TypeAdapter[Any] = TypeAdapter(Annotated[HomeView | ModalView, Field(discriminator="type")])


def block_errors(blocks: Any) -> list[str]:
    """Return what is wrong with the blocks of a message."""
    return errors_of(_MESSAGE, blocks, "/blocks")


def view_errors(view: Any) -> list[str]:
    """Return what is wrong with a modal or a Home tab."""
    return errors_of(_VIEW, view, "/view")


def errors_of(form: TypeAdapter[Any], value: Any, at: str = "") -> list[str]:
    """Return what is wrong with a value, in the form of Slack's `response_metadata.messages`.

    Unlike Slack's, a pointer also names the type of each block, element and view on its way.
    """
    try:
        form.validate_python(value)
    except ValidationError as exc:
        return [
            f"[ERROR] {error['msg']} [json-pointer:{'/'.join([at, *map(str, error['loc'])])}]"
            for error in exc.errors(include_url=False)
        ]
    return []


def interactive(block: Json) -> list[Json]:
    """Return the interactive elements of a block that have an action_id."""
    return [each for each in _elements(block) if each.get("action_id")]


def with_ids(blocks: list[Json], fresh: Callable[[str], str]) -> list[Json]:
    """Return the blocks with missing block_ids and action_ids generated by `fresh`."""
    done: list[Json] = json.loads(json.dumps(blocks))
    for block in done:
        block.setdefault("block_id", fresh(""))
        for element in _elements(block):
            element.setdefault("action_id", fresh(""))
    return done


def _elements(block: Json) -> list[Json]:
    if block["type"] == "input":
        return [block["element"]]
    return block["elements"] if block["type"] in {"actions", "context_actions"} else []
