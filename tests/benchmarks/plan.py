"""The parts of a whole run: their content, duration and time limit."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """One part: `usual` seconds at full size on two idle cores; it is stopped after `patience`
    seconds.

    Parts with `named` are measured only if `--only` names them or their group.
    """

    title: str
    usual: float
    patience: float
    named: bool = False


PARTS = {
    "W3": Part("one request at a time over HTTP, on an idle system", 15, 600),
    "W1e": Part("chains of steps with an effect, compared with plain Celery", 30, 600),
    "W1p": Part("chains of pure steps, compared with plain Celery", 20, 600),
    "W2e": Part("fans of steps with an effect, compared with plain Celery", 25, 600),
    "W2c": Part("fans as W2e, each for the first time, compared with plain Celery", 25, 600),
    "W2p": Part("fans of pure steps, compared with plain Celery", 15, 600),
    "W6": Part("maps of 10,000 items, compared with plain Celery", 35, 600),
    "W4": Part("HTTP calls of two seconds in one io worker", 60, 600),
    "W5": Part("sixteen clients trigger, compared with a bare view", 55, 600),
    "crowd": Part("250,000 steps pending: made, then looked at for a minute", 90, 900),
    "backlog": Part("100,000 executions: made, then worked off", 440, 1_500),
    "full": Part("tables with 1,000,000 executions, compared with empty tables", 120, 900),
    "memory": Part("a worker's child over 10,000 steps and four maps", 30, 600),
    "idle": Part("everything that `make up` starts, at rest", 60, 420),
    "shipped-chain": Part("chains, the whole stack as shipped", 200, 900, named=True),
    "shipped-fan": Part("fans, the whole stack as shipped", 170, 900, named=True),
    "shipped-single": Part("single steps, the whole stack as shipped", 240, 900, named=True),
    "shipped-http": Part("requests, the whole stack as shipped", 60, 600, named=True),
    "shipped-full": Part("the stack as shipped over 1,000,000 executions", 240, 1_500, named=True),
}
# The names of one word that `--only` accepts.
GROUPS = {"shipped": (*(name for name in PARTS if name.startswith("shipped-")), "idle")}
