"""What beat has done for the alerts: its pulse, the news, the messages, the conditions."""

from dlq.alerts import pulse
from dlq.alerts.folding import fold
from dlq.alerts.sending import send_due
from dlq.alerts.watching import watch
from executions.database.advisory_lock import alone
from executions.database.advisory_locks import AdvisoryLock


def tell() -> dict[str, int]:
    """Every five seconds: write the pulse, turn news into alerts, send what is due."""
    pulse.beat()
    return {"told": fold(), "attempts": send_due()}


def look() -> dict[str, int]:
    """Every fifteen seconds: look at what rules ask about, if nobody else is at it."""
    with alone(AdvisoryLock.ALERT_WATCHING) as mine:
        return watch() if mine else {}
