"""The API's description of itself in OpenAPI: what its routes say, and what holds for all of them."""

from __future__ import annotations

from functools import cache
from typing import Any

from kakurenbo.judge.api.app import api
from kakurenbo.judge.api.schemas import Refusal

_JSON, _BYTES = "application/json", "application/octet-stream"
_ANYWHERE = {
    401: "There is no token, or it is wrong or was revoked",
    403: "This asker may not do it",
    404: "There is nothing, or nothing that the asker may know of",
    429: "Too many requests at once; again after `Retry-After` seconds",
    503: "Too much to do at this moment; again after `Retry-After` seconds",
}
_WITH_A_BODY = {
    400: "The request cannot be read, or was cut off",
    408: "The body came too slowly",
    413: "The body is larger than `limit` bytes",
}
_BODIES = ("put", "post", "patch", "delete")


@cache
def description() -> dict[str, Any]:
    """All routes with every answer that they give: refusals of one form, and files as bytes."""
    made = api.get_openapi_schema()
    made["components"]["schemas"].setdefault("Refusal", Refusal.model_json_schema())
    for methods in made["paths"].values():
        for method, operation in methods.items():
            answers = operation["responses"]
            _say_bytes(answers)
            told = {**_ANYWHERE, **(_WITH_A_BODY if method in _BODIES else {})}
            for status, words in told.items():
                answers.setdefault(status, _refusal(words))
    return made


def _refusal(words: str) -> dict[str, Any]:
    return {
        "description": words,
        "content": {_JSON: {"schema": {"$ref": "#/components/schemas/Refusal"}}},
    }


def _say_bytes(answers: dict[int, Any]) -> None:
    """A route that gives a file declares bytes, which are no JSON."""
    for answer in answers.values():
        schema = answer.get("content", {}).get(_JSON, {}).get("schema", {})
        if schema.get("format") == "binary":
            answer["content"] = {_BYTES: {"schema": {"type": "string", "format": "binary"}}}
