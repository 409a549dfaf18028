"""Admin pages of this app; importing the package registers them."""

from dlq.admin import (  # noqa: F401 - importing registers
    entry,
    groups,
    panels,
    quarantine,
    redrives,
    workflow_figures,
)
