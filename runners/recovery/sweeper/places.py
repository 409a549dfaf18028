"""Places of limited workspaces: sleepers that hold one give it up, forgotten ones get one again."""

from django.db import transaction

from executions.admission import capacity
from executions.models import WorkflowExecution
from runners import statements

BATCH = 1_000


def sweep() -> int:
    """Mend places; returns how many."""
    return _rouse() + _doze()


def _rouse() -> int:
    with transaction.atomic():
        found = [pk for (pk,) in statements.fetch("forgotten", {"batch": BATCH})]
        if found:
            capacity.request_slot(found)
    return len(found)


def _doze() -> int:
    """The last step that was awake ended beside those that wait: nobody fell asleep in it."""
    seen = [pk for (pk,) in statements.fetch("asleep", {"ids": None, "batch": BATCH})]
    if not seen:
        return 0
    with transaction.atomic():
        list(
            WorkflowExecution.objects.select_for_update(no_key=True)
            .filter(pk__in=seen)
            .order_by("pk")
            .values_list("pk", flat=True)
        )
        # Looked at again under the locks: something may have woken meanwhile.
        asleep = [pk for (pk,) in statements.fetch("asleep", {"ids": seen, "batch": BATCH})]
        if asleep:
            capacity.release_slot(*asleep)
    return len(asleep)
