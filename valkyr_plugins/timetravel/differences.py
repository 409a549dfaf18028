"""What came out otherwise when recorded steps were rendered and decided again: pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from executions.public.errors import PayloadError
from executions.public.values import payloads

MAX_DIFFERENCES = 100
MAX_SHOWN = 1_000  # characters of a value's JSON


@dataclass(frozen=True, slots=True)
class Difference:
    """One value of one step (or, without a path, of the execution) as it was and as it would be."""

    step_path: str
    field: str
    recorded: Any
    replayed: Any


@dataclass(slots=True)
class Verification:
    """What replaying with recorded results found."""

    steps: int = 0
    complete: bool = True
    differences: list[Difference] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether nothing came out otherwise."""
        return not self.differences

    def differs(self, step_path: str, name: str, recorded: Any, replayed: Any) -> None:
        """Note a difference; after 100 of them only that there are more."""
        if len(self.differences) < MAX_DIFFERENCES:
            self.differences.append(Difference(step_path, name, shown(recorded), shown(replayed)))
        else:
            self.complete = False

    def compare(self, step_path: str, name: str, recorded: Any, replayed: Any) -> None:
        """Note what differs between two values; of two objects, key by key."""
        for path, one, other in _unequal(name, recorded, replayed):
            self.differs(step_path, path, one, other)


def _unequal(name: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    if one == other and type(one) is type(other):
        return
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted({*one, *other}):
            yield from _unequal(f"{name}.{key}", one.get(key), other.get(key))
    else:
        yield name, one, other


def shown(value: Any) -> Any:
    """A value short enough for a list; a longer one is told by its size and hash."""
    try:
        text = payloads.dump(value, "value")
    except PayloadError:
        return f"(cannot be shown: {type(value).__name__})"
    if len(text) <= MAX_SHOWN:
        return value
    return f"({len(text):,} characters of JSON, SHA-256 {payloads.digest(text)})"
