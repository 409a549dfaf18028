"""Leave planning to a worker where it would render a template while a request is answered.

What needs no rendering is planned at once. Where a loop's condition or the workflow's output has to
be rendered, nothing more is decided here: a worker plans the execution from its rows.
"""

from functools import partial

from django.db import transaction

from executions.definition.templates import Template
from executions.definition.templating import refusal
from runners.dispatch import messages
from runners.segment.state import SegmentState


def left_to_worker(state: SegmentState, template: Template | None) -> bool:
    """Return whether `template` may not be rendered here; then a worker is asked to plan.

    The message is sent after the commit. If it is lost, the sweeper plans the execution.
    """
    if template is None or template.constant or refusal.renders_here():
        return False
    if not state.left_to_worker:
        state.left_to_worker = True
        transaction.on_commit(partial(messages.advance, state.context.execution_id), robust=True)
    return True
