"""Shows an answer while it comes: pieces in the run's log, its end in the heartbeat.

What is shown ends at a space: a secret that the model repeats is never cut in two there, and so is
known and taken out.
"""

import time

from runners.public.modules import StepContext

PIECE = 400  # characters of one log entry, at least
MOST_PIECES = 60
SHOWN = 2_000  # characters of the text's end that the heartbeat carries
HELD_BACK = 4_000  # text without any space is shown all the same after so many characters
EVERY_SECONDS = 1.0


class ShownProgress:
    """What of one answer was shown already."""

    def __init__(self, ctx: StepContext) -> None:
        self._ctx = ctx
        self._open = ""  # not in the log yet
        self._recent = ""  # the end of what came
        self._characters = 0
        self._pieces = 0
        self._told_at = -EVERY_SECONDS  # so that the first piece is shown at once

    def add(self, text: str, reasoning: int = 0) -> None:
        """Take a piece of the answer's text; `reasoning` counts characters said before it."""
        if not (text or reasoning):
            return
        self._open += text
        self._recent = (self._recent + text)[-SHOWN - HELD_BACK :]
        self._characters += len(text) + reasoning
        if len(self._open) >= PIECE:
            self._log(_settled(self._open))
        if time.monotonic() - self._told_at >= EVERY_SECONDS:
            self._tell()

    def finish(self) -> None:
        """Log what is left; the whole answer is in the step's output, or it has failed."""
        self._log(len(self._open))

    def _log(self, end: int) -> None:
        piece, self._open = self._open[:end], self._open[end:]
        if not piece.strip():
            return
        self._pieces += 1
        if self._pieces <= MOST_PIECES:
            self._ctx.log.info(piece.strip())
        elif self._pieces == MOST_PIECES + 1:
            self._ctx.log.info("the rest of the answer is not logged")

    def _tell(self) -> None:
        self._told_at = time.monotonic()
        shown = self._recent[: _settled(self._recent)]
        if len(shown) > SHOWN:
            # Neither does it begin within a word.
            shown = shown[-SHOWN:].partition(" ")[2] or shown[-SHOWN:]
        self._ctx.heartbeat({"characters": self._characters, "text": shown})


def _settled(text: str) -> int:
    """How much of a text may be shown: up to its last space, unless there is none for long."""
    end = max(text.rfind(" "), text.rfind("\n")) + 1
    return end if end or len(text) < HELD_BACK else len(text)
