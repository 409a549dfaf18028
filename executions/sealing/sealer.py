"""Seal and open the payloads of one execution, for code that reads and writes rows as text."""

import time
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured

from executions.sealing import payload_keys, payloads
from executions.sealing.errors import SealingError
from executions.sealing.payload_keys import CURRENT_SECONDS
from executions.sealing.payloads import UNKNOWN, place

SHOWN = 300


class PayloadSealer:
    """Seals payloads of one execution under its workspace's key.

    `key` is the ID of the workspace's current key; None if the workspace does not seal payloads.
    The ID is read at its first use if the caller does not pass it, and again after
    `payload_keys.CURRENT_SECONDS`: a step may run for hours.
    """

    __slots__ = ("_key", "_known_at", "execution_id", "workspace_id")

    def __init__(self, execution_id: UUID, workspace_id: UUID, key: int | None = UNKNOWN) -> None:
        self.execution_id, self.workspace_id, self._key = execution_id, workspace_id, key
        self._known_at = time.monotonic()

    @property
    def key(self) -> int | None:
        """Return the ID of the key; None if the workspace does not seal payloads.

        Uses one query if the ID is unknown or was read long ago.
        """
        if self._key == UNKNOWN or time.monotonic() - self._known_at > CURRENT_SECONDS:
            self._key = payload_keys.current(self.workspace_id)
            self._known_at = time.monotonic()
        return self._key

    def json(self, text: str, column: str, step_path: str = "") -> str:
        """Return a JSON text as it is stored: sealed if the workspace seals payloads."""
        if self.key is None:
            return text
        return payloads.seal_json(text, place(self.execution_id, column, step_path), self.key)

    def details(self, text: str, step_path: str) -> str:
        """Return the details of a running step's heartbeat in their stored form.

        The step holds no connection, so a known key is not read again.
        """
        if self._key is None:
            return text
        where = place(self.execution_id, "heartbeat_details", step_path)
        return payloads.seal_json(text, where, self.key if self._key == UNKNOWN else self._key)

    def text(self, text: str, column: str, step_path: str = "") -> str:
        """Return a text as it is stored. Uses no query for an empty text."""
        if not text or self.key is None:
            return text
        return payloads.seal_text(text, place(self.execution_id, column, step_path), self.key)

    def each(self, text: str, column: str) -> str:
        """Return a JSON object's text as stored: each value sealed if the workspace seals payloads.

        Uses no query for `{}`.
        """
        if text == "{}" or self.key is None:
            return text
        return payloads.seal_each(text, place(self.execution_id, column), self.key)

    def facts(self, text: str, column: str, run_id: UUID) -> str:
        """Return a wait's facts as stored JSON: payloads sealed if the workspace seals them."""
        if self.key is None:
            return text
        where = place(self.execution_id, column, str(run_id))
        return payloads.seal_facts(text, where, self.key)

    def lines(self, text: str, column: str, step_path: str = "") -> str:
        """Return the JSON text of log lines as stored: in one envelope if payloads are sealed."""
        if self.key is None:
            return text
        return payloads.seal_lines(text, place(self.execution_id, column, step_path), self.key)


def opened(execution_id: UUID, value: Any, column: str, step_path: str = "") -> Any:
    """Return a JSON column's value, opened if it is sealed. Raises SealBroken."""
    if not payloads.is_sealed(value):
        return value
    return payloads.open_json(value, place(execution_id, column, step_path))


def opened_text(execution_id: UUID, value: str, column: str, step_path: str = "") -> str:
    """Return a text column's value, opened if it is sealed. Raises SealBroken."""
    if not payloads.is_sealed(value):
        return value
    return payloads.open_text(value, place(execution_id, column, step_path))


def shown_text(execution_id: UUID, value: str, column: str, step_path: str = "") -> str:
    """Return up to 300 characters of a column's text, or a message if it cannot be opened."""
    try:
        return opened_text(execution_id, value, column, step_path)[:SHOWN]
    except (SealingError, ImproperlyConfigured):
        return "This text is sealed, and its seal does not open."


def opened_variables(execution_id: UUID, values: Any) -> Any:
    """Return an execution's variables, opened if they are sealed. Raises SealBroken."""
    return payloads.open_each(values, place(execution_id, "context_data")) if values else values


def opened_facts(execution_id: UUID, values: Any, column: str, run_id: UUID) -> Any:
    """Return the facts of a run's wait, opened if they are sealed. Raises SealBroken."""
    return payloads.open_each(values, place(execution_id, column, str(run_id)))


def opened_results(execution_id: UUID, rows: Iterable[Any]) -> list[Any]:
    """Return rows (path, state, outcome, outputs, error, …) unsealed. Raises SealBroken."""
    return [
        row
        if not payloads.is_sealed(row[3]) and not payloads.is_sealed(row[4])
        else (
            *row[:3],
            opened(execution_id, row[3], "outputs", row[0]),
            opened_text(execution_id, row[4], "error", row[0]),
            *row[5:],
        )
        for row in rows
    ]
