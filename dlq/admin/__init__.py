"""The admin pages of the app `dlq`; importing this package registers them."""

from dlq.admin import entry, groups, panels  # noqa: F401 - importing registers
