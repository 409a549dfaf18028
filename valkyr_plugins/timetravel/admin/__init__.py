"""Panels and operations on the pages of executions; importing the package adds them."""

from valkyr_plugins.timetravel.admin import (  # noqa: F401 - importing adds
    history,
    verification,
)
