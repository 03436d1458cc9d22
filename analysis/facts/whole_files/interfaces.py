"""Classes whose fields people write: configuration, and the requests and responses of an API."""

import re

from analysis.facts.whole_files.module import Class
from analysis.facts.whole_files.repository import Found

_CONFIG_CLASS = re.compile(r"(?:Config|Configuration|Settings|Args|Arguments|Options|Params)$")
_CONFIG_DECORATOR = re.compile(r"(?:\w+\.)?config\b")
_API_CLASS = re.compile(r"(?:Request|Response|Choice|Delta|Payload)$|(?:Request|Response)(?=[A-Z])")
_MODEL = re.compile(r"(?:\w*BaseModel|Schema|Struct)$")
_API_PATH = re.compile(
    r"(^|/)(api|apis|entrypoints|openai|server|serving|routers?|routes|schemas?|protocol)(/|\.py$|_)"
)


def is_configuration(owner: Class) -> bool:
    """Return whether a class's fields are configuration."""
    return bool(_CONFIG_CLASS.search(owner.name) or any(map(_CONFIG_DECORATOR.match, owner.decorators)))


def is_api(owner: Found[Class]) -> bool:
    """Return whether a class describes requests or responses, as its module and its name or bases say."""
    if not _API_PATH.search(owner.module.path):
        return False
    models = any(_MODEL.match(each.name) for each in owner.member.bases)
    return bool(_API_CLASS.search(owner.member.name)) or (models and not is_configuration(owner.member))


def is_setting(owner: Found[Class]) -> bool:
    """Return whether people write the fields of a class."""
    return is_configuration(owner.member) or is_api(owner)
