"""Say in the admin what holds a run back."""

from runners.admin.run import HELD_BY

__all__ = [
    "HELD_BY",
]
