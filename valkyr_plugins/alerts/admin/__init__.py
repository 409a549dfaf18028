"""Admin pages of alerts; importing the package registers them."""

from valkyr_plugins.alerts.admin import alert_rules, alerts  # noqa: F401 - importing registers
