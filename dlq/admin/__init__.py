"""Admin pages of this app; importing the package registers them."""

from dlq.admin import entry, groups, panels  # noqa: F401 - importing registers
