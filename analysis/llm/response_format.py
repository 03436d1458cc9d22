"""The ways to request a reply that fits a schema, and the check that it does."""

import json
from typing import Any, TypeVar

from json_repair import repair_json
from pydantic import BaseModel, ValidationError

T = TypeVar("T", bound=BaseModel)


def response_format(schema: type[BaseModel]) -> dict[str, Any]:
    form = {"name": schema.__name__, "strict": True, "schema": _strict_schema(schema)}
    return {"type": "json_schema", "json_schema": form}


def _strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema in the subset of strict servers: all properties required, none additional, no limits."""
    told: dict[str, Any] = _strict(schema.model_json_schema())
    return told


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(each) for each in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _strict(value) for key, value in node.items() if key not in _LIMITS}
    if kept.get("type") == "object":
        kept |= {"required": list(kept.get("properties", {})), "additionalProperties": False}
    return kept


_LIMITS = frozenset({"maxLength", "minLength", "maxItems", "minItems", "default", "title"})


def schema_prompt(schema: type[BaseModel]) -> str:
    told = json.dumps(_strict_schema(schema), ensure_ascii=False)
    return f"Reply with one JSON object only, no other text, that fits this JSON schema:\n{told}"


def validated(text: str, schema: type[T]) -> tuple[T | None, str]:
    """Return (value, "") or (None, error), of the JSON in a text, which is repaired if possible."""
    wrong = ""
    for candidate in (text, text[text.find("{") : text.rfind("}") + 1], repair_json(text)):
        try:
            return schema.model_validate_json(candidate), ""
        except ValidationError as exc:
            error = exc.errors(include_url=False, include_input=False)[0]
            wrong = f"{'.'.join(map(str, error['loc']))}: {error['msg']}"
    return None, wrong
