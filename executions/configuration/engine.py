"""The engine's settings, by subject. A plugin's are in its own `conf.py`."""

from typing import ClassVar

from pydantic import field_validator

from executions.configuration.keeping import MetricsSettings, RetentionSettings, SealingSettings
from executions.configuration.model import Flag, Networks, SettingsModel, Words, setting
from executions.configuration.running import OWN_QUEUES, DefinitionSettings, WorkerSettings

DAYS = "days"
SECONDS = "seconds"
A_MINUTE = "requests a minute"


class PlaceSettings(SettingsModel):
    """Where Valkyr's data is, and how others reach it."""

    title: ClassVar[str] = "Where things are"

    public_url: str = setting(
        "http://localhost:8000",
        "How other systems reach this installation; the addresses of callbacks begin with it. The "
        "same for all processes: workers give the addresses out",
    )
    url_prefix: str | None = setting(
        None,
        "What stands before `v1/` in our addresses, as `workflows/`: processes that know it give "
        "out addresses without loading the project's urlconf",
        unset="as the urlconf has it",
    )
    admin_prefix: str | None = setting(
        None,
        "The same for the pages of the admin, as `admin/`",
        unset="as the urlconf has it",
    )
    code_workspace: str = setting(
        "default",
        "The slug of the workspace in which workflows from code live; made where it is missing",
        pattern=r"^[a-zA-Z0-9_-]{1,80}$",
    )
    database: str = setting(
        "",
        "The alias in `DATABASES` of the database with Valkyr's tables",
        unset="where the project's own routers write them, else `default`",
    )
    database_direct_url: str = setting(
        "",
        "The same database past a pooler, `postgres://…`, for locks that belong to a session; only "
        "where there is a pooler ([PgBouncer](../how-to/pgbouncer.md))",
        unset="none",
    )
    row_level_security: Flag = setting(
        False,
        "Whether PostgreSQL itself limits each request of the API and the admin to the rows of the "
        "caller's workspaces ([row-level security](../how-to/row-level-security.md))",
    )
    row_level_security_role: str = setting(
        "valkyr_scoped",
        "The role in PostgreSQL that requests run as then; `migrate` makes it where it may",
        pattern=r"^[a-z_][a-z0-9_]{0,62}$",
    )
    replica_lag_seconds: float = setting(
        5,
        "How old a list may be that is read from the replica; where it is older, lists come from "
        "the primary",
        unit=SECONDS,
        ge=0,
    )
    redis_url: str = setting(
        "",
        "The Redis that counts requests for all web processes together. Without one each process "
        "counts by itself, tries to sign in are counted in the database",
        unset="the broker, where that is Redis",
    )
    key_prefix: str = setting(
        "valkyr:", "Prefix of our keys in Redis; two installations on one Redis need two"
    )
    queue_prefix: str = setting(
        "valkyr.",
        "Prefix of our Celery queues: a step of the queue `io` waits in `valkyr.io`",
        unset="`valkyr.`",
        pattern=r"^[A-Za-z0-9_.:-]*$",
    )
    celery_queues: Words = setting(
        (),
        "Queues of the project's Celery app that steps may name as they are, beside ours: a step "
        "of the queue `images` goes to `images`, not to `valkyr.images`. Their workers run the "
        "project's Celery app",
    )
    trace_url: str = setting(
        "",
        "The address of a trace, with `{trace_id}` in it, e.g. "
        "`https://jaeger.example.org/trace/{trace_id}`: a link on the pages of executions and dead "
        "letters, and in the monitor",
        unset="none",
    )
    sentry_url: str = setting(
        "",
        "A search for an execution in Sentry, with `{execution_id}` in it: a link on the pages of "
        "dead letters",
        unset="none",
    )
    flower_url: str = setting(
        "", "The address of Flower: a link on the pages of runs and dead letters", unset="none"
    )

    @field_validator("celery_queues")
    @classmethod
    def _not_ours(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if own := sorted(OWN_QUEUES.intersection(value)):
            raise ValueError(f"no queue named {own[0]!r}, which Valkyr uses for itself")
        return value

    @field_validator("public_url")
    @classmethod
    def _without_slash(cls, value: str) -> str:
        return value.rstrip("/")


class AccessSettings(SettingsModel):
    """Who may call the API, and how often. 0 is no limit."""

    title: ClassVar[str] = "Signing in and rates"

    authentication_classes: Words = setting(
        (),
        "Authentication classes of Django REST framework that the API accepts beside its own, as "
        "dotted paths",
        unset="none",
    )
    token_days: int = setting(
        90, "How long an API token holds for which nobody says a time", unit=DAYS, ge=1
    )
    token_max_days: int = setting(365, "How long an API token may hold at most", unit=DAYS, ge=1)
    trusted_proxies: Networks = setting(
        (),
        "Addresses or networks of your proxies: their `X-Forwarded-For` says who calls (audit "
        "trail, rates), and nobody else's `X-Forwarded-*` counts",
        unset="none",
    )
    api_rate: int = setting(
        60_000, "Requests of one principal (all its tokens together)", unit=A_MINUTE, ge=0
    )
    trigger_rate: int = setting(
        30_000,
        "Of those, requests that may start executions; a batch counts once",
        unit=A_MINUTE,
        ge=0,
    )
    refusal_rate: int = setting(
        300,
        "Requests from one address (in IPv6, one network of 64 bits) that are not signed in; more "
        "get a 429 in place of the 401. As many may ask for a workflow's schema, which is open",
        unit=A_MINUTE,
        ge=0,
    )
    webhook_rate: int = setting(
        600,
        "Requests that one address may send to one webhook; more is a 429",
        unit=A_MINUTE,
        ge=0,
    )
    webhook_waiters: int = setting(
        32,
        "Webhook requests that one web process lets wait for a result at once; the next is "
        "answered with the execution's id",
        ge=0,
    )
    live_viewers: int = setting(
        300,
        "Monitors and other clients that may watch live through one web process at once; the next "
        "is a 503",
        ge=0,
    )
    live_viewers_each: int = setting(
        50, "And one person through one web process; the next is a 429", ge=0
    )


GROUPS: tuple[type[SettingsModel], ...] = (
    PlaceSettings,
    AccessSettings,
    WorkerSettings,
    DefinitionSettings,
    RetentionSettings,
    SealingSettings,
    MetricsSettings,
)


class EngineSettings(
    MetricsSettings,
    SealingSettings,
    RetentionSettings,
    DefinitionSettings,
    WorkerSettings,
    AccessSettings,
    PlaceSettings,
):
    """All of them."""
