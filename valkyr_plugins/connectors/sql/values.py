"""What PostgreSQL's values become in JSON: nothing loses precision on the way.

Decimals are text, times ISO 8601, bytes Base64; what JSON knows stays what it is.
"""

import base64
import json
import math
from collections.abc import Iterable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from functools import singledispatch
from types import NoneType
from typing import Any

from runners.public.modules import StepError

MAX_BYTES = 5 * 1024 * 1024  # of an output


@singledispatch
def json_value(value: Any) -> Any:
    """A value that JSON can hold; text for what neither JSON nor this file knows."""
    return str(value)


@json_value.register(NoneType | bool | int | str)
def _as_it_is(value: Any) -> Any:
    return value


@json_value.register
def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


@json_value.register
def _decimal(value: Decimal) -> str:
    return format(value, "f")


@json_value.register(date | time)  # a datetime is a date
def _time(value: Any) -> str:
    return str(value.isoformat())


@json_value.register
def _duration(value: timedelta) -> str:
    """ISO 8601, in days and seconds: P1DT3600S."""
    sign, value = ("-", -value) if value < timedelta(0) else ("", value)
    seconds = format(Decimal(value.seconds) + Decimal(value.microseconds) / 1_000_000, "f")
    return f"{sign}P{value.days}DT{seconds}S"


@json_value.register(bytes | bytearray | memoryview)
def _bytes(value: Any) -> str:
    return base64.b64encode(value).decode("ascii")


@json_value.register(dict)
def _object(value: dict[Any, Any]) -> dict[str, Any]:
    return {str(key): json_value(item) for key, item in value.items()}


@json_value.register(list | tuple)
def _list(value: Any) -> list[Any]:
    return [json_value(item) for item in value]


class Rows:
    """Rows as a step's output, counted as they come."""

    def __init__(self, columns: Sequence[str], most: int) -> None:
        repeated = sorted({name for name in columns if list(columns).count(name) > 1})
        if repeated:
            raise StepError(
                f"the rows have the column {', '.join(repeated)[:200]} twice: name them apart with "
                "AS"
            )
        self.columns = list(columns)
        self.rows: list[dict[str, Any]] = []
        self._most = most
        self._bytes = 0

    def add(self, found: Iterable[Sequence[Any]]) -> None:
        """Keep more rows; StepError past `most` rows, or past 5 MiB."""
        for values in found:
            if len(self.rows) == self._most:
                raise StepError(
                    f"there are more than {self._most:,} rows (maxRows): narrow the statement, "
                    "page by a key with LIMIT, or allow more"
                )
            row = dict(zip(self.columns, map(json_value, values), strict=True))
            self._bytes += len(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))
            if self._bytes > MAX_BYTES:
                raise StepError(
                    f"the rows make more than {MAX_BYTES >> 20} MiB, the most an output may hold: "
                    "select fewer columns, or page by a key with LIMIT"
                )
            self.rows.append(row)
