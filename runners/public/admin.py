"""Say in the admin what holds a run back."""

from runners.admin.waits import HELD_BY

__all__ = [
    "HELD_BY",
]
