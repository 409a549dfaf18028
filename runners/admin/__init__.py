"""The admin pages of the app `runners`; importing this package registers them."""

from runners.admin import (  # noqa: F401 - importing registers
    approvals,
    monitor,
    panels,
    run,
    runner,
)
