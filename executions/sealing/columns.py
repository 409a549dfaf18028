"""Which columns hold sealed values: what is sealed anew when keys change, and what keeps a key."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Model

from executions.models import Credential, KeptAnswer


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """A column of values sealed for `place_of(row, value)`, and the one of their keys' ids."""

    model: type[Model]
    value: str = "sealed"
    key: str = "key_id"

    @property
    def label(self) -> str:
        """What people call it: `executions.Credential.sealed`."""
        return f"{self.model._meta.label}.{self.value}"

    def count(self) -> Counter[int]:
        """How many values each key seals. One query."""
        rows = self.model._default_manager.values_list(self.key).annotate(many=Count("*"))
        return Counter(dict(rows.order_by()))

    def holds(self, ids: Collection[int]) -> bool:
        """Whether one of these keys seals anything. One query."""
        return self.model._default_manager.filter(**{f"{self.key}__in": ids}).exists()


_columns = [SealedColumn(Credential), SealedColumn(KeptAnswer)]


def register(column: SealedColumn) -> None:
    """Add a column; an app calls this as it gets ready, or its values lose their keys."""
    if column not in _columns:
        _columns.append(column)


def columns() -> tuple[SealedColumn, ...]:
    """Every column that holds sealed values."""
    return tuple(_columns)
