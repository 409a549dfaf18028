"""Requests and answers of the API, recorded as examples that are the same each time."""

import json
import re
from typing import Any

from rest_framework.test import APIClient

from executions.api.openapi import operations

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
HEX = re.compile(r"\b[0-9a-f]{32,64}\b")
SECRET = re.compile(r"vlk_\w{8,}|eyJ[\w-]+\.[\w-]+\.[\w-]+|\b[\w-]{40,}\b")
MOST_CHARACTERS = 6_000


class Recorder:
    """Sends requests by operation id and keeps the first request and answer of each."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.known = {op["operationId"]: (path, m, op) for path, m, op in operations(document)}
        self.kept: dict[str, Any] = {}
        self.client = APIClient()

    def ask(self, name: str, body: Any = None, *, query: str = "", **given: Any) -> Any:
        """Return the answer's JSON; `given` are the path's parameters and, by header name,
        headers.
        """
        path, method, described = self.known[name]
        parameters = set(re.findall(r"{(\w+)}", path))
        where = path.format(**{key: given[key] for key in parameters}) + query
        headers = {key.replace("_", "-"): v for key, v in given.items() if key not in parameters}
        answer = self.client.generic(
            method.upper(),
            where,
            b"" if body is None else json.dumps(body).encode(),
            content_type="application/json",
            headers=headers,
        )
        assert answer.status_code < 300, (name, answer.status_code, answer.content)
        if answer.streaming or not answer.content:
            shown = None
        elif "json" in answer["Content-Type"]:
            shown = answer.json()
        else:
            shown = None
        entry = self.kept.setdefault(name, {})
        if body is not None and "requestBody" in described:
            entry.setdefault("request", body)
        if shown is not None:
            entry.setdefault("answers", {}).setdefault(str(answer.status_code), short(shown))
        return shown


def short(value: Any) -> Any:
    """Return a list's first readable row, or the beginning of a text that is too long."""
    if isinstance(value, list):
        readable = (row for row in value if len(json.dumps(row)) <= MOST_CHARACTERS)
        return [short(next(readable, value[0]))] if value else []
    if len(json.dumps(value)) > MOST_CHARACTERS and isinstance(value, dict):
        return {key: item for key, item in value.items() if not isinstance(item, dict | list)}
    return value


def steady(kept: dict[str, Any]) -> dict[str, Any]:
    """Return the record with ids, times, hashes and secrets that are the same in each recording."""
    text = json.dumps(kept, sort_keys=True)
    numbers: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        made = f"01a1f000-0000-7000-8000-{len(numbers) + 1:012d}"
        return numbers.setdefault(match[0], made)

    text = UUID.sub(number, text)
    text = TIME.sub("2026-11-21T12:00:00Z", text)
    text = HEX.sub(lambda match: ("0123456789abcdef" * 4)[: len(match[0])], text)
    text = SECRET.sub(lambda match: f"{match[0][:4]}…", text)
    out: dict[str, Any] = json.loads(text)
    return out
