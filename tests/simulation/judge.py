"""After a seed: compare the rows with the interpreter's result."""

from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from dlq.models import DeadLetterEntry
from executions.database.statements import Statements
from tests.simulation.acts import MENDED
from tests.support.auditor import Audit
from tests.support.graphs import Drawn
from tests.support.interpreter import agrees, places

ACTED = Statements(Path(__file__).with_name("acted"))


def problems(executions: Sequence[UUID], stories: Sequence[Drawn]) -> list[str]:
    """Return the wrong results of these executions; each had to end as its story says."""
    done = Audit(executions)
    found = [*done.problems]
    found += [what for (what,) in ACTED.fetch("violations", {})]
    found += [
        f"run {path} is {state}, held by {holder or 'nobody'}"
        for path, state, holder in ACTED.fetch("leftover_leases", {})
    ]
    for number, (execution, drawn) in enumerate(zip(executions, stories, strict=True)):
        found += [f"execution {number} {what}" for what in _as_drawn(execution, drawn, done)]
    return found


def _as_drawn(execution: UUID, drawn: Drawn, done: Audit) -> list[str]:
    letters = DeadLetterEntry.objects.filter(execution_id=execution)
    mended = letters.filter(resolution="REQUEUED", module=MENDED)
    drawn.mended.update(mended.values_list("step_path", flat=True))
    runs = done.runs[execution]
    state = done.states[execution]
    if state == "CANCELLED":
        return []  # its progress depends on chance; the auditor has checked the rows
    story = drawn.story(places(runs).__contains__)
    if state != story.state:
        return [f"is {state}, the interpreter says {story.state}"]
    outputs = {
        path: run.outputs for path, tries in runs.items() for run in tries if run.state == "SUCCESS"
    }
    wrong = [
        f"has {outputs.get(path)!r} of {path}, the interpreter says {expected!r}"
        for path, expected in story.outputs.items()
        if not agrees(expected, outputs.get(path))
    ]
    dead = set(letters.filter(resolution="PENDING").values_list("step_path", flat=True))
    if dead - story.dead:
        wrong.append(f"has dead letters of {sorted(dead - story.dead)}")
    if story.dead - dead:
        wrong.append(f"has no dead letter of {sorted(story.dead - dead)}")
    return wrong
