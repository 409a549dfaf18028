"""Admin pages of this app; importing the package registers them."""

from executions.admin import (  # noqa: F401 - importing registers
    accounts,
    activity,
    credentials,
    events,
    execution,
    grants,
    members,
    own_password,
    programs,
    refused,
    schedules,
    sessions,
    studio,
    tenants,
    tokens,
    trigger,
    version,
    workflow,
)
