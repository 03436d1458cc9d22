"""The settings, from the environment or a `.env` file in the working directory. Built once, in `bot.cli`."""

import logging
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from analysis.errors import BadSetting, Misuse
from analysis.models import Repository
from analysis.window import zone


def _repositories(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        found = [Repository.parse(name) for name in value.split(",") if name.strip()]
    except Misuse as exc:
        raise ValueError(str(exc)) from None
    if not found:
        raise ValueError("names no repository; use owner/name, several with commas between them")
    return list({repository.key: repository for repository in found}.values())


def _empty_as_none(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


class Settings(BaseSettings):
    """What an operator can choose. Tokens are secrets: they are never printed, not even in an error."""

    model_config = SettingsConfigDict(env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True)

    github_token: Annotated[SecretStr | None, BeforeValidator(_empty_as_none)] = None
    github_api_url: str = "https://api.github.com"
    digest_repos: Annotated[list[Repository], NoDecode, BeforeValidator(_repositories)] = Field(
        default_factory=lambda: [Repository(owner="vllm-project", name="vllm")]
    )
    digest_timezone: str = "Asia/Shanghai"
    digest_language: Literal["zh", "en"] = "zh"
    database_url: SecretStr = SecretStr("sqlite:///data/digest.db")
    log_level: str = "warning"

    @field_validator("github_api_url")
    @classmethod
    def _web_address(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("is not a web address; use https://api.github.com or https://HOST/api/v3")
        if parts.username or parts.password:
            raise ValueError("holds a password; put the token into GITHUB_TOKEN")
        return value.rstrip("/")

    @field_validator("digest_timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            zone(value)
        except Misuse as exc:
            raise ValueError(str(exc)) from None
        return value

    @field_validator("log_level")
    @classmethod
    def _known_level(cls, value: str) -> str:
        if value.upper() not in logging.getLevelNamesMapping():
            raise ValueError("is not a level; use debug, info, warning or error")
        return value.upper()

    @property
    def tz(self) -> ZoneInfo:
        return zone(self.digest_timezone)

    @property
    def token(self) -> str | None:
        return self.github_token.get_secret_value() if self.github_token else None

    @classmethod
    def load(cls) -> Self:
        """The settings as they are now; `BadSetting` names each wrong one with its reason and without its value."""
        try:
            return cls()
        except ValidationError as exc:
            wrong = [
                f"{'.'.join(str(part) for part in error['loc'][:1]).upper()}: {_reason(error['msg'])}"
                for error in exc.errors()
            ]
            raise BadSetting("; ".join(wrong)) from None


def _reason(message: str) -> str:
    return message.removeprefix("Value error, ")
