"""Admin pages of this app; importing the package registers them."""

from executions.admin import (  # noqa: F401 - importing registers
    accounts,
    activity,
    checkpoints,
    events,
    execution,
    refused,
    schedules,
    tenants,
    trigger,
    version,
    workflow,
)
