"""Settings of step execution and of workflow definitions."""

from typing import ClassVar

from pydantic import ValidationInfo, field_validator

from executions.configuration.model import Flag, SettingsModel, Words, setting

SECONDS = "seconds"
# Queues of Valkyr's own workers. The index of the runs of other queues excludes them by name.
OWN_QUEUES = frozenset({"control", "default", "io"})


class WorkerSettings(SettingsModel):
    """Limits and timeouts for the execution of steps."""

    title: ClassVar[str] = "How much at once, and how patient"

    lease_seconds: float = setting(
        20,
        "Lifetime of a lease without renewal; after this time, other workers take over a dead "
        "worker's steps",
        unit=SECONDS,
        gt=0,
    )
    heartbeat_seconds: float = setting(
        5, "Time between renewals of a lease; at most half of `LEASE_SECONDS`", unit=SECONDS, gt=0
    )
    grace_seconds: float = setting(
        2,
        "Time between a step's timeout and its forced end",
        unit=SECONDS,
        ge=0,
    )
    database_step_seconds: float = setting(
        5,
        'Maximum duration of a step with `effect="database"`, even if its timeout is longer, '
        "because its transaction stays open",
        unit=SECONDS,
        gt=0,
        le=60,
    )
    patience_seconds: float = setting(
        10, "Time after which a message that was not received is sent again", unit=SECONDS, gt=0
    )
    drain_seconds: float = setting(
        20,
        "Time in which a worker's running steps can end after the worker gets SIGTERM. After "
        "this time, other workers immediately take over the unfinished steps. Set it ten seconds "
        "below the supervisor's kill timeout (Kubernetes' default: 30 s). `make up` sets 8",
        unit=SECONDS,
        ge=0,
    )
    stall_seconds: float = setting(
        10,
        "Time for which one thread of a worker's process can use a processor while no other "
        "thread of the process can run. After this time, a watchdog ends the process, and Valkyr "
        "counts a crash for the step that stalled it. 0: no watchdog",
        unit=SECONDS,
    )
    isolated_steps: int = setting(
        8,
        "Maximum number of suspect steps that one `threads` worker executes at the same time, "
        "each in its own process",
        ge=1,
    )
    isolated_memory_mb: int = setting(
        2048,
        "Maximum address space of each process of a suspect step (RLIMIT_AS); at least 512; 0 sets "
        "no limit",
        unit="MiB",
        ge=0,
    )
    stuck_threads: int = setting(
        8, "Number of stuck steps at which a `threads` worker finishes its other steps and restarts"
    )
    worker_memory_mb: int | None = setting(
        None,
        "Maximum address space, in MiB, of each process in a prefork pool (RLIMIT_AS): a step that "
        "needs more fails alone, with `MemoryError`. The default is a share of the machine's "
        "memory, or of the cgroup's limit. At least 512; 0 sets no limit. Workers that also "
        "consume queues other than Valkyr's have no limit",
        unset="a quarter of the memory, 1024 to 4096 MiB",
        ge=0,
    )
    thread_queues: Words = setting(
        (),
        "Queues, in addition to `io`, whose workers use the pool `threads`. CPU-bound modules "
        "cannot use these queues; the default queue of such a module cannot be listed here",
        unset="none",
    )
    remote_queues: Words = setting(
        (),
        "Queues for [remote runners](../how-to/operations.md#remote-runners), the same for all "
        "processes; workers do not execute steps on these queues. `make up` sets `remote`",
        unset="none",
    )
    extra_modules: Words = setting(
        (),
        "Python modules (`company.steps`) with step modules, in addition to those of "
        "installed packages",
        unset="none",
    )
    egress_allow: Words = setting(
        (),
        "Hosts that steps may connect to, in workspaces without "
        "[egress rules](../explanation/security.md#egress-rules) of their own: `api.example.com`, "
        "`*.example.com`, `10.0.0.0/8`, each with or without a port. Private addresses also need "
        "`HTTP_ALLOWED_NETWORKS` or `SQL_ALLOWED_HOSTS`",
        unset="any host",
    )
    currency: str = setting(
        "USD",
        "Default currency of the costs of steps (ISO 4217)",
        pattern="^[A-Z]{3}$",
    )

    @field_validator("remote_queues")
    @classmethod
    def _served_by_nobody(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if own := sorted(OWN_QUEUES.intersection(value)):
            raise ValueError(f"names other than {', '.join(own)}, which Valkyr's own workers serve")
        return value


class DefinitionSettings(SettingsModel):
    """Limits and defaults of workflows.

    Valkyr checks the limits and stores the defaults when you publish a version, so a changed
    setting takes effect with the next publication. Running executions keep their values.
    """

    title: ClassVar[str] = "What workflows may do and get"

    loop_limit_condition: int = setting(
        1000,
        "Maximum `maxIterations` of a loop with `while` or `until`; a workflow with a larger "
        "number cannot be published",
        variables=("LOOP_LIMIT_CONDITION",),
        ge=1,
        le=1_000_000,
    )
    loop_limit_default: int | None = setting(
        None,
        "Default `maxIterations`; at most the limit above",
        unset="1000, or the limit above if that is lower",
        variables=("LOOP_LIMIT_DEFAULT",),
        ge=1,
    )
    checkpoint_enabled: Flag = setting(
        True,
        "Whether workflows take checkpoints if `settings.checkpoint` is not set; this needs the "
        "[plugin](../how-to/plugins.md) `timetravel`",
        variables=("CHECKPOINT_ENABLED",),
    )
    checkpoint_interval_nodes: int = setting(
        5,
        "Number of steps between two checkpoints (`everySteps`)",
        variables=("CHECKPOINT_INTERVAL_NODES",),
        ge=1,
        le=1_000,
    )
    checkpoint_max_checkpoints: int = setting(
        10,
        "Number of automatic checkpoints kept for an execution (`keep`); the oldest are deleted "
        "first",
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
