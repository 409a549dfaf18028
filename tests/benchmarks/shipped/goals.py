"""The targets of a stack as shipped."""

from tests.benchmarks.targets import Target


def _times(load: str, title: str, bound: float) -> Target:
    return Target(f"shipped.{load}.ratio", title, bound, least=True, unit="x")


def _cpu(load: str, title: str, bound: float) -> Target:
    return Target(
        f"shipped.{load}.cpu_ms", f"{title}: CPU per step, all processes", bound, unit="ms"
    )


def _slower(load: str, title: str) -> Target:
    return Target(
        f"shipped.full.{load}.slower",
        f"with 1,000,000 executions: {title} slower by",
        0.10,
        unit="%",
    )


GOALS = (
    _times("chain-effect", "chain of 20, effects", 3.0),
    _cpu("chain-effect", "chain of 20, effects", 0.9),
    _times("chain-pure", "chain of 20, pure", 8.0),
    _times("fan-cold", "fan of 50 + 2, effects, cold", 1.5),
    _times("fan-warm", "fan of 50 + 2, effects, warm", 2.5),
    _times("fan-pure", "fan of 50 + 2, pure", 10.0),
    _times("single-batch", "single step, by batches", 1.2),
    _cpu("single-batch", "single step, by batches", 2.0),
    _times("single-backlog", "single step, from a backlog", 1.2),
    _cpu("single-backlog", "single step, from a backlog", 2.0),
    Target("shipped.http.rate", "16 clients, single starts: executions/s", 250, least=True),
    _cpu("http", "16 clients, single starts", 6.0),
    Target(
        "shipped.answered.p95",
        "over HTTP, idle: time to the 202 (after the commit), p95",
        8,
        unit="ms",
    ),
    Target(
        "shipped.first_line.p95",
        "over HTTP, idle: time to the first line of the step, p95",
        10,
        unit="ms",
    ),
    _slower("chain-effect", "chain"),
    _slower("single-batch", "single step"),
    Target("idle.memory", "memory (PSS) of everything, idle", 450, unit="MiB"),
)
