"""The jobs of alerts that one process does at a time (`executions/alone.py`)."""

from executions.alone import alone

__all__ = ["SENDING", "WATCHING", "alone"]

# Any constants will do; they name the jobs among all sessions of one database.
SENDING = 7_263_544_421
WATCHING = 7_263_544_422
