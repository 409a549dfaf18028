"""What a consumer asks of a broker: one message at a time, acknowledged or given back."""

from typing import Protocol

from executions.triggers.queues.message import QueueMessage


class Lost(Exception):
    """The broker does not answer just now; what was not acknowledged comes again."""


class UnusableSource(Exception):
    """The broker answers, and trying again will not help."""


class MessageSource(Protocol):
    """One queue of one broker.

    Each method may raise Lost, and may be called again after it; `get` may raise Unusable.
    """

    def get(self) -> QueueMessage | None:
        """The next message, now held by this source; None when there is none now."""

    def acknowledge(self) -> None:
        """The message held is done with; it does not come again."""

    def give_back(self) -> None:
        """Put the message held back where it was, ahead of the others."""

    def close(self) -> None:
        """Let the broker go; a message still held comes again."""
