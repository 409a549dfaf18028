"""What the pages of executions show and offer; importing the package adds it."""

from valkyr_plugins.timetravel.admin import (  # noqa: F401 - importing adds
    history,
    verification,
)
