"""Admin pages of limits; importing the package registers them."""

from valkyr_plugins.limits.admin import budgets, costs, quotas  # noqa: F401 - importing registers
