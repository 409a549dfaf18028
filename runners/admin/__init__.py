"""Admin pages of this app; importing the package registers them."""

from runners.admin import (  # noqa: F401 - importing registers
    approvals,
    monitor,
    panels,
    run,
    runner,
)
