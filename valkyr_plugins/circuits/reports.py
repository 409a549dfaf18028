"""Report why a step is held for its target, and which circuits are open."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from dlq.public.metrics import BOUND, Family
from runners.public.explain import HeldRuns, Reason, at, brief, iso, sentence
from runners.public.models import Run
from valkyr_plugins.circuits.breaker import Circuit, CircuitState, counted, due, free
from valkyr_plugins.circuits.breaker_rows import circuit_of
from valkyr_plugins.circuits.models import CircuitBreaker

RESET = "Users who may operate executions can reset the circuit"


@dataclass(frozen=True, slots=True)
class KnownCircuit:
    """A target's circuit; `id` is None if the target has no row."""

    id: UUID | None
    circuit: Circuit


def reasons(held: HeldRuns) -> Mapping[UUID, Reason]:
    """Return the reason why each of these runs is waiting, keyed by run ID. Uses one query."""
    targets = {target_of(run) for run in held.runs}
    rows = CircuitBreaker.objects.filter(workspace_id=held.workspace_id, target__in=targets)
    known = {row.target: KnownCircuit(row.pk, circuit_of(row)) for row in rows}
    clean = KnownCircuit(None, Circuit())
    return {
        run.pk: held_reason(run, known.get(target_of(run), clean), held.since[run.pk], held.now)
        for run in held.runs
    }


def held_reason(run: Run, known: KnownCircuit, since: datetime | None, now: datetime) -> Reason:
    """Return the reason why a run is waiting for the target that its `progress` names."""
    target, circuit = target_of(run), known.circuit
    error = f" Its last failure: {sentence(circuit.last_error)}" if circuit.last_error else ""
    limit = f" It fails at {at(run.due_at)} if it is still held." if run.due_at else ""
    return Reason(
        "waiting_for_circuit",
        f"{_why(target, circuit, now)}{error}{limit}",
        since=since,
        until=circuit.next_retry_at if circuit.state == CircuitState.OPEN else run.due_at,
        details={
            "target": target,
            "circuitBreakerId": None if known.id is None else str(known.id),
            "state": circuit.state,
            "failures": circuit.failures,
            "lastError": brief(circuit.last_error),
            "openedAt": iso(circuit.opened_at),
            "nextRetryAt": iso(circuit.next_retry_at),
            "heldUntil": iso(run.due_at),
        },
    )


def target_of(run: Run) -> str:
    """Return the target of a held run."""
    return str((run.progress or {}).get("target", ""))


def _why(target: str, circuit: Circuit, now: datetime) -> str:
    if free(circuit, now):
        return f"Its target {target} answers again; it continues within seconds."
    if circuit.state == CircuitState.CLOSED:
        failed = (f", and {counted(circuit, now)} calls failed recently") * bool(
            counted(circuit, now)
        )
        return (
            f"It is not known whether its target {target} answers{failed}: a few steps run "
            "first, and this one after the first success."
        )
    rests = f"The circuit of its target {target} has been open since {at(circuit.opened_at)}"
    if circuit.state == CircuitState.HALF_OPEN and not due(circuit, now):
        return f"{rests}; one step probes it now, until {at(circuit.probe_until)}. {RESET}."
    if due(circuit, now):
        return f"{rests}; one step probes it within seconds. {RESET}."
    return f"{rests}; one step probes it at {at(circuit.next_retry_at)}. {RESET} earlier."


# Circuits that are not closed, for metrics and alerts.


def rows() -> QuerySet[CircuitBreaker]:
    """Return the breakers that are not closed."""
    return CircuitBreaker.objects.exclude(state=CircuitState.CLOSED)


def lasting(ids: Collection[UUID]) -> set[UUID]:
    """Return the given IDs whose breakers are not closed."""
    return set(rows().filter(pk__in=ids).values_list("pk", flat=True))


def reading(now: datetime) -> Iterator[Family]:
    """Yield the metric with the number of circuits that are not closed, grouped by state."""
    family = Family("valkyr_circuits", "Circuits that are not closed, by state.", labels=["state"])
    for state in (CircuitState.HALF_OPEN, CircuitState.OPEN):
        found = rows().order_by().filter(state=state)
        family.add_metric([state.value], found[:BOUND].count())
    yield family
