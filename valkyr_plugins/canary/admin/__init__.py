"""Pages of canaries and rollbacks; importing the package registers them."""

from valkyr_plugins.canary.admin import (  # noqa: F401 - importing registers
    canaries,
    rollbacks,
    workflows,
)
