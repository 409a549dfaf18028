"""The circuits that are not closed, for those who count them and who tell of them."""

from collections.abc import Collection, Iterator
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from dlq.public.metrics import BOUND, Family
from valkyr_plugins.circuits.breaker import CircuitState
from valkyr_plugins.circuits.models import CircuitBreaker


def rows() -> QuerySet[CircuitBreaker]:
    """Return the breakers that are not closed."""
    return CircuitBreaker.objects.exclude(state=CircuitState.CLOSED)


def lasting(ids: Collection[UUID]) -> set[UUID]:
    """Return those of these breakers that are not closed."""
    return set(rows().filter(pk__in=ids).values_list("pk", flat=True))


def reading(now: datetime) -> Iterator[Family]:
    """Yield how many circuits are not closed, by state."""
    family = Family("valkyr_circuits", "Circuits that are not closed, by state.", labels=["state"])
    for state in (CircuitState.HALF_OPEN, CircuitState.OPEN):
        found = rows().order_by().filter(state=state)
        family.add_metric([state.value], found[:BOUND].count())
    yield family
