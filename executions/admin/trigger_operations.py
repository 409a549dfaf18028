"""How the admin offers what users do to triggers."""

from executions.admin.operations import AdminOperation
from executions.triggers import operations

SWITCH_ON = AdminOperation(
    operations.SWITCH_ON,
    title="Switch on…",
    icon="toggle_on",
    done="switched on",
    question="It starts executions again. Schedules do not catch up on the time they were off.",
)
SWITCH_OFF = AdminOperation(
    operations.SWITCH_OFF,
    title="Switch off…",
    icon="toggle_off",
    done="switched off",
    question="It starts nothing until it is switched on again; publishing leaves it off.",
)
REVEAL = AdminOperation(
    operations.REVEAL_SECRET,
    title="Show secret…",
    icon="key",
    done="shown",
    question="Whoever has the secret can start this workflow. That you saw it is kept in the "
    "activity log.",
    bulk=False,
    shows="The secret",
)
ROTATE = AdminOperation(
    operations.ROTATE_SECRET,
    title="New secret…",
    icon="autorenew",
    done="given a new secret",
    question="The secret it has is refused at once; give the new one to whoever sends requests.",
    danger=True,
    bulk=False,
    shows="The new secret",
)

OPERATIONS = (SWITCH_ON, SWITCH_OFF, REVEAL, ROTATE)
