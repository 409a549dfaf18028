"""Admin pages of this app; importing the package registers them."""

from dlq.admin import entry, panels, quarantine, redrives  # noqa: F401 - importing registers
