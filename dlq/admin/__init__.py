"""Admin pages of this app; importing the package registers them."""

from dlq.admin import entry, groups, panels, quarantine  # noqa: F401 - importing registers
