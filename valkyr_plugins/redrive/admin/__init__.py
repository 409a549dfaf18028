"""Pages of redrives; importing the package registers them."""

from valkyr_plugins.redrive.admin import pages, triage  # noqa: F401 - importing registers
