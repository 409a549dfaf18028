"""Admin pages of this app; importing the package registers them."""

from dlq.admin import (  # noqa: F401 - importing registers
    alert_rules,
    alerts,
    entry,
    groups,
    panels,
    quarantine,
    redrives,
    workflow_figures,
)
