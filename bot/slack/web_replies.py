"""The answers of Slack's Web API, as far as they are read. One that does not fit raises pydantic's `ValidationError`."""

from typing import Any

from pydantic import AliasPath, BaseModel, ConfigDict, Field


class Reply(BaseModel):
    model_config = ConfigDict(frozen=True)


class Identity(Reply):
    """auth.test"""

    user_id: str | None = None
    bot_id: str | None = None
    team_id: str | None = None
    team: str | None = None
    user: str | None = None
    enterprise_id: str | None = None
    is_enterprise_install: bool | None = None


class BotInfo(Reply):
    app_id: str = Field(validation_alias=AliasPath("bot", "app_id"))


class Connection(Reply):
    url: str


class Posted(Reply):
    ts: str


class UploadPlace(Reply):
    upload_url: str
    file_id: str


class File(Reply):
    """`shares` maps public and private to channels, and those to the messages that share the file; `size` is in bytes."""

    name: str | None = None
    size: int | None = None
    mimetype: str | None = None
    url_private: str | None = None
    shares: dict[str, dict[str, tuple[Posted, ...]]] | None = None


class FileInfo(Reply):
    file: File


class Cursor(Reply):
    next_cursor: str | None = None


class Page(Reply):
    response_metadata: Cursor | None = None

    @property
    def next_cursor(self) -> str | None:
        return (self.response_metadata and self.response_metadata.next_cursor) or None


class MessagePage(Page):
    messages: list[dict[str, Any]]


class MemberPage(Page):
    members: frozenset[str]


class Channel(Reply):
    is_member: bool | None = None
    is_archived: bool | None = None


class ChannelInfo(Reply):
    channel: Channel


class DirectChannel(Reply):
    id: str


class OpenedChannel(Reply):
    channel: DirectChannel


class Permalink(Reply):
    permalink: str


class Profile(Reply):
    display_name: str | None = None
    real_name: str | None = None


class EnterpriseUser(Reply):
    teams: frozenset[str] | None = None


class User(Reply):
    name: str | None = None
    profile: Profile | None = None
    team_id: str | None = None
    enterprise_user: EnterpriseUser | None = None
    is_admin: bool | None = None
    is_owner: bool | None = None
    is_stranger: bool | None = None


class UserInfo(Reply):
    user: User
