"""How steps are executed, and what workflows may ask for."""

from typing import ClassVar

from pydantic import ValidationInfo, field_validator

from executions.configuration.model import Flag, SettingsModel, Words, setting

SECONDS = "seconds"
# Served by our own workers; the index of all other queues' runs leaves them out by name.
OWN_QUEUES = frozenset({"control", "default", "io"})


class WorkerSettings(SettingsModel):
    """How steps are executed, and how patient everybody is."""

    title: ClassVar[str] = "How much at once, and how patient"

    lease_seconds: float = setting(
        20,
        "How long a claim holds without renewal; a dead worker's steps are taken over after it",
        unit=SECONDS,
        gt=0,
    )
    heartbeat_seconds: float = setting(
        5, "How often a lease is renewed; half of the lease at most", unit=SECONDS, gt=0
    )
    grace_seconds: float = setting(
        2,
        "How long a step may go on past its time-out before it is ended by force",
        unit=SECONDS,
        ge=0,
    )
    database_step_seconds: float = setting(
        5,
        'How long a step with `effect="database"` may take, whatever its time-out says: its '
        "transaction is open all the while",
        unit=SECONDS,
        gt=0,
        le=60,
    )
    patience_seconds: float = setting(
        10, "How long a message may be on its way before it is sent again", unit=SECONDS, gt=0
    )
    drain_seconds: float = setting(
        20,
        "How long steps under way get when their worker is asked to end (SIGTERM); what is not "
        "done then is given to other workers at once. Keep it ten seconds below what the "
        "supervisor waits before it kills (Kubernetes: 30). `make up` sets 8",
        unit=SECONDS,
        ge=0,
    )
    stall_seconds: float = setting(
        10,
        "A worker's process in which no other thread could run for so long, while it used a "
        "processor, is ended by a watchdog, and the step that stalled it is blamed; 0: no watchdog",
        unit=SECONDS,
    )
    isolated_steps: int = setting(
        8,
        "How many suspect steps one `threads` worker executes at once, each in its own process",
        ge=1,
    )
    isolated_memory_mb: int = setting(
        2048,
        "Address space of such a process (RLIMIT_AS); at least 512; 0 sets no limit",
        unit="MiB",
        ge=0,
    )
    stuck_threads: int = setting(
        8, "Stuck steps of a `threads` worker before it drains and starts afresh"
    )
    worker_memory_mb: int | None = setting(
        None,
        "Address space of a process in a prefork pool (RLIMIT_AS): a step that asks for more fails "
        "alone, with `MemoryError`. The memory is that of the machine, or of the cgroup where it "
        "has a limit. At least 512; 0 sets no limit. A worker that consumes other queues than "
        "Valkyr's has none, since its processes are not ours alone",
        unit="MiB",
        unset="a quarter of the memory, 1024 to 4096",
        ge=0,
    )
    thread_queues: Words = setting(
        (),
        "Queues beside `io` that threads of one process serve: modules that compute are refused "
        "there, and a queue that such a module has by itself (`default`) cannot be named",
        unset="none",
    )
    remote_queues: Words = setting(
        (),
        "Queues whose steps are done by [remote runners](../how-to/operations.md#remote-runners) "
        "and sent to no worker; the same for all processes. `make up` sets `remote`",
        unset="none",
    )
    extra_modules: Words = setting(
        (),
        "Python modules (`company.steps`) whose step modules join those of installed packages",
        unset="none",
    )
    currency: str = setting(
        "USD",
        "The currency of what steps cost, where a module names none (ISO 4217)",
        pattern="^[A-Z]{3}$",
    )

    @field_validator("remote_queues")
    @classmethod
    def _served_by_nobody(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if own := sorted(OWN_QUEUES.intersection(value)):
            raise ValueError(f"other names than {', '.join(own)}, which our own workers serve")
        return value


class DefinitionSettings(SettingsModel):
    """What workflows may do and get.

    Publishing writes these into a version: a change takes effect with the next publish, and nothing
    that runs moves.
    """

    title: ClassVar[str] = "What workflows may do and get"

    loop_limit_condition: int = setting(
        1000,
        "Most `maxIterations` a loop with `while` or `until` may have; a larger one cannot be "
        "published",
        variables=("LOOP_LIMIT_CONDITION",),
        ge=1,
        le=1_000_000,
    )
    loop_limit_default: int | None = setting(
        None,
        "Its `maxIterations` where it names none; at most the limit above",
        unset="1000, or the limit above where that is less",
        variables=("LOOP_LIMIT_DEFAULT",),
        ge=1,
    )
    checkpoint_enabled: Flag = setting(
        True,
        "Whether workflows whose `settings.checkpoint` does not say take checkpoints by "
        "themselves; none do without the [plugin](../how-to/plugins.md) `timetravel`",
        variables=("CHECKPOINT_ENABLED",),
    )
    checkpoint_interval_nodes: int = setting(
        5,
        "How many steps are between two checkpoints (`everySteps`)",
        variables=("CHECKPOINT_INTERVAL_NODES",),
        ge=1,
        le=1_000,
    )
    checkpoint_max_checkpoints: int = setting(
        10,
        "How many of an execution are kept (`keep`); the oldest go first",
        variables=("CHECKPOINT_MAX_CHECKPOINTS",),
        ge=1,
        le=100,
    )

    @field_validator("loop_limit_default")
    @classmethod
    def _within_the_limit(cls, value: int | None, info: ValidationInfo) -> int | None:
        most: int | None = info.data.get("loop_limit_condition")
        if value is not None and most is not None and value > most:
            raise ValueError(f"1 to {most} (LOOP_LIMIT_CONDITION)")
        return value
