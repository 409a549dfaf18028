"""Admin pages of this app; importing the package registers them."""

from executions.admin import (  # noqa: F401 - importing registers
    accounts,
    activity,
    credential_uses,
    credentials,
    events,
    execution,
    grants,
    members,
    refused_messages,
    service_accounts,
    studio,
    tokens,
    trigger,
    workflow,
    workspaces,
)
