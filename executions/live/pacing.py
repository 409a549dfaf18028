"""How long the hub rests between two looks: as long as it takes to stay a small load."""

SHORTEST, LONGEST = 0.2, 2.0
# Of the time, so much is spent reading at most.
SHARE = 0.1


def rest_after(seconds: float) -> float:
    """The rest after a look that took so many seconds."""
    return min(max(SHORTEST, seconds / SHARE), LONGEST)
