"""What beat has done for the alerts: the news, the messages, the conditions."""

from executions.public.database import AdvisoryLock, alone
from valkyr_plugins.alerts.folding import fold
from valkyr_plugins.alerts.sending import send_due
from valkyr_plugins.alerts.watching import watch


def tell() -> dict[str, int]:
    """Every five seconds: turn news into alerts, send what is due."""
    return {"told": fold(), "attempts": send_due()}


def look() -> dict[str, int]:
    """Every fifteen seconds: look at what rules ask about, if nobody else is at it."""
    with alone(AdvisoryLock.ALERT_WATCHING) as mine:
        return watch() if mine else {}
