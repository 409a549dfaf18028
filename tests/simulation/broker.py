"""The simulation's broker: it also delays and rejects messages, and ignores dead processes."""

from collections.abc import Sequence
from random import Random
from uuid import UUID

from runners.dispatch.canvas import Parcel
from runners.dispatch.messages import _unsend
from tests.simulation.actors import Killed, me
from tests.support.transport import Message, Transport


class Broker(Transport):
    """The messages in transit; `lose`, `double` and `refuse` are chances from 0 to 1."""

    def __init__(self, rng: Random, *, lose: float, double: float, refuse: float) -> None:
        super().__init__(rng, lose=lose, double=double)
        self.refuse = refuse

    def heal(self) -> None:
        """Lose, duplicate and reject nothing from now on."""
        self.lose = self.double = self.refuse = 0.0

    def publish(self, parcels: Sequence[Parcel]) -> None:
        """Replaces `messages.publish`; rejected messages are left to the sweeper."""
        _must_live()
        if self.rng.random() < self.refuse:
            _unsend(parcels)
        else:
            super().publish(parcels)

    def advance(self, execution_id: UUID) -> None:
        """Replaces `messages.advance`."""
        _must_live()
        super().advance(execution_id)

    def tell(self, task: str, subject: UUID, *words: str) -> None:
        """Replaces `messages.tell`."""
        _must_live()
        self.put(Message(subject, task=task, words=words))

    def take(self) -> Message:
        """Return the oldest message, or a random one: their order is not guaranteed."""
        late = self.rng.random() < 0.3
        return self.queue.pop(self.rng.randrange(len(self.queue)) if late else 0)


def _must_live() -> None:
    """Raise Killed in a killed process, which sends nothing any more."""
    actor = me()
    if actor is not None and actor.dead:
        raise Killed
