"""The moves of alerts and of their messages; `raising` makes the first, `sending` the second."""

from valkyr_plugins.alerts.models import AlertState, DeliveryState

# What was told of lately and begins again is the same alert; later it is a new one.
ALERT_MOVES: dict[str, frozenset[str]] = {
    AlertState.OPEN: frozenset({AlertState.OVER}),
    AlertState.OVER: frozenset({AlertState.OPEN}),
}
MESSAGE_MOVES: dict[str, frozenset[str]] = {
    DeliveryState.QUEUED: frozenset(
        {DeliveryState.QUEUED, DeliveryState.SENT, DeliveryState.GIVEN_UP}
    ),
    DeliveryState.SENT: frozenset({DeliveryState.QUEUED}),
    DeliveryState.GIVEN_UP: frozenset({DeliveryState.QUEUED}),
}
