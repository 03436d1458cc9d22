"""The settings, from the environment or a `.env` file in the working directory. Built once, in `bot.cli`."""

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import time
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, DotEnvSettingsSource, EnvSettingsSource, NoDecode, SettingsConfigDict

from analysis.errors import BadSetting, Misuse
from analysis.locale import Language
from analysis.models import Repository
from analysis.window import zone
from bot.models.publish_target import PublishRule, parse_rule

_REASONS = {  # by pydantic's error types
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "int_parsing": "must be a whole number",
    "float_parsing": "must be a number",
    "bool_parsing": "must be true or false",
    "literal_error": "is not supported; use {expected}",
}


def _parsed(parse: Callable[[str], Any]) -> BeforeValidator:
    """Return a validator that parses text, and leaves other values as they are. A `Misuse` is an error of the setting."""

    def validate(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return parse(value)
        except Misuse as exc:
            raise ValueError(str(exc)) from None

    return BeforeValidator(validate)


def _items(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _repositories(text: str) -> list[Repository]:
    found = {each.key: each for each in map(Repository.parse, _items(text))}
    if not found:
        raise ValueError("has no repository; use owner/name, comma-separated")
    return list(found.values())


def _token(text: str) -> str | None:
    """Strip the line break that a file or a secret store may add to a token; reject inner white space."""
    token = text.strip()
    if not token.isprintable() or " " in token or not token.isascii():
        raise ValueError("is not a valid token: it contains white space or other invalid characters")
    return token or None


def _mcp_token(text: str) -> str | None:
    token = _token(text)
    if token and len(token) < _SHORTEST_TOKEN:
        raise ValueError(
            f"is shorter than {_SHORTEST_TOKEN} characters; make one with: "
            'python3 -c "import secrets; print(secrets.token_urlsafe(32))"'
        )
    return token


def _channels(text: str) -> list[str]:
    found = list(dict.fromkeys(_items(text)))
    for each in found:
        if not re.fullmatch(r"[CGD][A-Z0-9]+", each):
            raise ValueError(
                f"{each[:40]!r} is not a channel ID such as C0123456789; it is at the bottom of the channel's details in Slack"
            )
    return found


def _by_repository(text: str, what: str, example: str) -> dict[str, str]:
    """Parse `owner/name=VALUE, ...` into lower-case full name -> value."""
    found = {}
    for each in _items(text):
        name, equals, value = each.partition("=")
        repository = Repository.parse(name)
        if not equals or repository.branch:
            raise ValueError(f"{each[:60]!r} has no {what}; use owner/name={example}")
        found[repository.full_name.lower()] = value.strip()
    return found


def _private(text: str) -> dict[str, frozenset[str]]:
    """Parse `o/n=C1+C2, o/m=C3` into lower-case full name -> channels."""
    found = _by_repository(text, "channels", "C0123456789+C9876543210")
    return {name: frozenset(_channels(channels.replace("+", ","))) for name, channels in found.items()}


def _tag_prefixes(text: str) -> dict[str, str]:
    return _by_repository(text, "prefix", "sdk-v")


def _time_of_day(text: str) -> time:
    match = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", text.strip())
    if not match:
        raise ValueError("is not a valid time; use HH:MM")
    return time(int(match[1]), int(match[2]))


def _folder(text: str) -> Path | None:
    """Take `~` for the home folder, as a shell does, which does not see what a file says."""
    return Path(text.strip()).expanduser() if text.strip() else None


def _command(text: str) -> str:
    if not re.fullmatch(r"/[a-z0-9_-]{1,31}", text):
        raise ValueError(
            "is not a valid slash command; use lower-case letters, digits and hyphens, such as /vllm-digest"
        )
    return text


def _web_address(text: str) -> str:
    parts = urlsplit(text)
    try:
        is_server = parts.hostname and parts.port != 0
    except ValueError:  # of what is no port
        is_server = False
    odd = re.search(r"[\s%\\]", parts.netloc) or not text.isprintable()  # urlsplit drops line breaks
    if parts.scheme not in ("http", "https") or not is_server or odd:
        raise ValueError("is not a valid URL; use https://HOST/PATH")
    if "@" in parts.netloc:
        raise ValueError("contains a password; put it into the setting for the token")
    return text.rstrip("/")


def _level(text: str) -> str:
    if text.upper() not in logging.getLevelNamesMapping():
        raise ValueError("is not a log level; use debug, info, warning or error")
    return text.upper()


_WebAddress = Annotated[str, _parsed(_web_address)]
_Token = Annotated[SecretStr | None, _parsed(_token)]
_Items = Annotated[list[str], NoDecode, _parsed(_items)]
_SHORTEST_TOKEN = 20  # characters of a token that nobody guesses
_OURS = "digest_"
_TURNED_OFF_BY_EMPTY = ("digest_mirrors",)
_PREFIXES = {"SLACK_BOT_TOKEN": "xoxb-", "SLACK_APP_TOKEN": "xapp-", "SLACK_SIGNING_SECRET": ""}


class WrongSettings(BadSetting):
    """Invalid settings; `wrong` has a line with the reason for each."""

    def __init__(self, wrong: Sequence[str]) -> None:
        super().__init__("; ".join(wrong))
        self.wrong = wrong


class Settings(BaseSettings):
    """The operator's settings. Tokens are secrets: they are never printed, not even in errors."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", frozen=True)

    github_token: _Token = None
    github_api_url: _WebAddress = "https://api.github.com"
    digest_repos: Annotated[list[Repository], NoDecode, _parsed(_repositories)] = Field(
        default_factory=lambda: [Repository(owner="vllm-project", name="vllm")]
    )
    digest_timezone: Annotated[str, _parsed(lambda text: zone(text) and text)] = "Asia/Shanghai"
    digest_language: Language = "zh"
    digest_downstream: _Items = Field(default_factory=list)
    digest_tag_prefix: Annotated[dict[str, str], NoDecode, _parsed(_tag_prefixes)] = Field(default_factory=dict)
    digest_mirrors: Annotated[Path | None, _parsed(_folder)] = Path("data/mirrors")
    database_url: SecretStr = SecretStr("sqlite:///data/digest.db")
    openai_api_key: _Token = None
    openai_base_url: _WebAddress | None = None
    digest_model: str | None = None
    digest_concurrency: int = Field(default=8, ge=1, le=64)
    digest_daily_budget_usd: float = Field(default=2.0, ge=0)
    slack_bot_token: _Token = None
    slack_app_token: _Token = None
    slack_signing_secret: _Token = None
    # The SDK appends the name of a method to the address.
    slack_api_url: Annotated[str, _parsed(lambda text: f"{_web_address(text)}/")] = "https://slack.com/api/"
    digest_channel: Annotated[list[str], NoDecode, _parsed(_channels)] = Field(default_factory=list)
    digest_private: Annotated[dict[str, frozenset[str]], NoDecode, _parsed(_private)] = Field(default_factory=dict)
    digest_private_to_model: bool = False
    digest_publish: Annotated[
        list[PublishRule], NoDecode, _parsed(lambda text: [parse_rule(each) for each in _items(text)])
    ] = Field(default_factory=list)
    digest_publish_token: _Token = None
    digest_mcp_token: Annotated[SecretStr | None, _parsed(_mcp_token)] = None
    digest_mcp_hosts: _Items = Field(default_factory=list)
    digest_mcp_private: bool = False
    digest_time: Annotated[time, _parsed(_time_of_day)] = time(9)
    digest_subscribe: str = Field(default="", description="the options of a new subscription, as after `subscribe`")
    digest_command: Annotated[str, _parsed(_command)] = "/vllm-digest"
    log_format: Literal["console", "json"] = "console"
    log_level: Annotated[str | None, _parsed(_level)] = Field(
        default=None, description="by default info while the bot runs, else warning"
    )

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Take an empty variable for an unset one, except where that turns something off."""
        return {name: value for name, value in values.items() if value != "" or name in _TURNED_OFF_BY_EMPTY}

    @property
    def tz(self) -> ZoneInfo:
        return zone(self.digest_timezone)

    @property
    def token(self) -> str | None:
        return self.github_token.get_secret_value() if self.github_token else None

    @property
    def publish_token(self) -> str | None:
        """The token that writes reports; it is never the one that reads."""
        return self.digest_publish_token.get_secret_value() if self.digest_publish_token else None

    def slack_secret(self, name: str) -> str:
        """Return one of the app's three Slack secrets. Raise `BadSetting` if it is missing or has the wrong prefix."""
        value: SecretStr | None = getattr(self, name.lower())
        if value is None:
            raise BadSetting(
                f"{name} is not set; the README says how to get one. Without Slack, try: vllm-digest digest --sample"
            )
        if not value.get_secret_value().startswith(_PREFIXES[name]):
            raise BadSetting(f"{name}: is not a valid token; it must start with {_PREFIXES[name]}")
        return value.get_secret_value()

    @classmethod
    def unknown(cls) -> Iterator[str]:
        """Yield a line for each DIGEST_ variable of the environment or `.env` that is no setting, with the nearest one.

        None is an error: another program may use the prefix, and a variable of a newer version must not stop this one.
        """
        known = {name.removeprefix(_OURS): name for name in cls.model_fields}
        found = {*EnvSettingsSource(cls).env_vars, *DotEnvSettingsSource(cls).env_vars} - set(known.values())
        for name in sorted(each for each in found if each.startswith(_OURS)):
            near = get_close_matches(name.removeprefix(_OURS), known, 1, 0.5)  # LNG is this near to LANGUAGE
            yield f"{name.upper()} is not a setting" + (f"; did you mean {known[near[0]].upper()}?" if near else "")

    @classmethod
    def load(cls) -> Self:
        """Read the settings. Raise `WrongSettings` with the name and reason of each invalid one, without its value."""
        try:
            return cls()
        except UnicodeDecodeError:
            raise WrongSettings([".env: is not a text in UTF-8"]) from None
        except ValidationError as exc:
            raise WrongSettings([f"{str(each['loc'][0]).upper()}: {reason(each)}" for each in exc.errors()]) from None


def choose_repositories(name: str | None, configured: Sequence[Repository]) -> list[Repository]:
    """Return all configured repositories, or the one called `name` (full or short). Raise `Misuse` if that is ambiguous or unknown."""
    if name is None:
        return list(configured)
    if "/" in name:
        parsed = Repository.parse(name)
        return [each for each in configured if each.key == parsed.key] or [parsed]
    short = [each for each in configured if name.lower() in (each.name.lower(), f"{each.name}@{each.branch}".lower())]
    if len(short) != 1:
        known = ", ".join(map(str, configured))
        raise Misuse(
            f"{name!r} matches {'several' if short else 'none'} of the configured repositories ({known}); use owner/name"
        )
    return short


def reason(error: Mapping[str, Any]) -> str:
    """Return our own description of a validation error."""
    words = _REASONS.get(error["type"])
    return words.format(**error.get("ctx", {})) if words else str(error["msg"]).removeprefix("Value error, ")
