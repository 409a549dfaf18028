"""Show in the admin why a run is held."""

from runners.admin.run import HELD_BY

__all__ = [
    "HELD_BY",
]
