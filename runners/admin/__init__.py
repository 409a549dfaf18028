"""Admin pages of this app; importing the package registers them."""

from runners.admin import (  # noqa: F401 - importing registers
    approvals,
    budgets,
    circuits,
    costs,
    explain,
    family,
    history,
    monitor,
    panels,
    run,
    runner,
    verification,
)
