"""What can be watched: a feed reads the states of one kind of thing, for many viewers at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from executions.live.rows import Row


@dataclass(slots=True)
class News:
    """Rows of one watched thing as they are now.

    `more` says that there are more rows than may be told at once; `ended` that nothing more will
    change.
    """

    executions: list[Row]
    runs: list[Row]
    more: bool = False
    ended: bool = False


class Feed(Protocol):
    """Reads on a plain connection, in a thread; nothing is kept between two calls."""

    def changes(self, ids: Sequence[UUID], since: int) -> dict[UUID, News]:
        """What of these was written since the cursor; nothing for what is as it was."""
        ...

    def opening(self, pk: UUID, since: int | None) -> News | None:
        """What a viewer should know who joins: everything, or what was written since the cursor.

        Says in any case whether it has ended; None if it is gone.
        """
        ...

    def told(self, news: News) -> dict[str, Any]:
        """News as the members of a frame's JSON object."""
        ...
