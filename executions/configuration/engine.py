"""The engine's settings, by subject. A plugin's settings are in its own `conf.py`."""

import re
from typing import ClassVar
from zlib import crc32

from pydantic import ValidationInfo, field_validator

from executions.configuration.keeping import (
    MetricsSettings,
    PayloadStoreSettings,
    RetentionSettings,
    SealingSettings,
)
from executions.configuration.model import Cells, Flag, Networks, SettingsModel, Words, setting
from executions.configuration.running import OWN_QUEUES, DefinitionSettings, WorkerSettings

DAYS = "days"
SECONDS = "seconds"
A_MINUTE = "requests a minute"
CELL_NAME = re.compile("[a-z][a-z0-9-]{0,15}")
NOT_CELLS = frozenset({"default", "replica"})


class PlaceSettings(SettingsModel):
    """The locations of Valkyr's data, and the addresses at which other systems reach Valkyr."""

    title: ClassVar[str] = "Where things are"

    public_url: str = setting(
        "http://localhost:8000",
        "The address at which other systems reach this installation, the same for all processes; "
        "callback addresses begin with it",
    )
    url_prefix: str | None = setting(
        None,
        "The part of Valkyr's addresses before `v1/`, such as `workflows/`; if it is set, workers "
        "build addresses without loading the project's URLconf",
        unset="the path in the URLconf",
    )
    admin_prefix: str | None = setting(
        None,
        "The path of the admin's first page, such as `admin/`; if it is set, workers build "
        "addresses of admin pages without loading the project's URLconf",
        unset="the path in the URLconf",
    )
    code_workspace: str = setting(
        "default",
        "The slug of the workspace for workflows from code; Valkyr creates the workspace if it "
        "is missing",
        pattern=r"^[a-zA-Z0-9_-]{1,80}$",
    )
    database: str = setting(
        "",
        "The alias in `DATABASES` of the database with Valkyr's tables",
        unset="the alias to which your routers send Valkyr's models, otherwise `default`",
    )
    database_direct_url: str = setting(
        "",
        "The database's direct address, `postgres://…`, which bypasses the pooler. Valkyr uses it "
        "for session-level locks. Set it only with a pooler ([PgBouncer](../how-to/pgbouncer.md))",
        unset="none",
    )
    cells: Cells = setting(
        (),
        "Aliases in `DATABASES` of further databases with Valkyr's tables, each with its own "
        "workspaces, workers and beat ([cells](../how-to/cells.md)). On the stand-alone "
        'platform, a JSON object of names and addresses: `{"b": "postgres://…"}`, or with a pooler '
        '`{"b": {"url": "postgres://…", "direct": "postgres://…"}}`',
        unset="none",
    )
    cell: str = setting(
        "",
        "The cell of this worker, beat or command, one of `CELLS`; web processes serve all cells",
        unset="the first database",
    )
    row_level_security: Flag = setting(
        False,
        "Whether PostgreSQL itself limits each request of the API and the admin to the rows of the "
        "caller's workspaces ([row-level security](../how-to/row-level-security.md))",
    )
    row_level_security_role: str = setting(
        "valkyr_scoped",
        "The PostgreSQL role of requests with row-level security; `migrate` creates the role if "
        "it has permission",
        pattern=r"^[a-z_][a-z0-9_]{0,62}$",
    )
    replica_lag_seconds: float = setting(
        5,
        "Maximum lag of the replica; if the replica is further behind, lists are read from the "
        "primary",
        unit=SECONDS,
        ge=0,
    )
    redis_url: str = setting(
        "",
        "The Redis server in which all web processes count requests for the rate limits. Without "
        "it, each process counts its own requests, sign-in attempts are counted in the database, "
        "and no list is read from a replica",
        unset="the broker, if it is Redis",
    )
    key_prefix: str = setting(
        "valkyr:",
        "Prefix of Valkyr's keys in Redis; two installations on one Redis need different prefixes",
    )
    queue_prefix: str = setting(
        "valkyr.",
        "Prefix of Valkyr's Celery queues: a step of the queue `io` waits in `valkyr.io`",
        unset="`valkyr.`; empty on the stand-alone platform",
        pattern=r"^[A-Za-z0-9_.:-]*$",
    )
    celery_queues: Words = setting(
        (),
        "Queues of the project's Celery app that steps may name: a step of the queue "
        "`images` goes to `images`, not to `valkyr.images`. The workers of these queues run the "
        "project's Celery app",
    )
    trace_url: str = setting(
        "",
        "The address of a trace, such as `https://jaeger.example.org/trace/{trace_id}`; the pages "
        "of executions and dead letters link to it",
        unset="none",
    )
    sentry_url: str = setting(
        "",
        "The address of a search in Sentry, with `{execution_id}`; the pages of dead letters link "
        "to it",
        unset="none",
    )
    flower_url: str = setting(
        "",
        "The address of Flower; the pages of executions and dead letters link to it",
        unset="none",
    )

    @field_validator("cells")
    @classmethod
    def _named(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if not CELL_NAME.fullmatch(name) or name in NOT_CELLS:
                raise ValueError(
                    "names of at most 16 lower-case letters, digits and '-', without 'default' "
                    f"and 'replica'; not {name!r}"
                )
        numbers = {crc32(name.encode()) & 0xFFFF for name in value}
        if len(numbers) < len(value):
            raise ValueError("names whose numbers in ids differ; choose another name")
        return value

    @field_validator("cell")
    @classmethod
    def _of_cells(cls, value: str, info: ValidationInfo) -> str:
        known = info.data.get("cells", ())
        if value and value not in known:
            raise ValueError(f"one of CELLS: {', '.join(known) or 'none is set'}")
        return value

    @field_validator("celery_queues")
    @classmethod
    def _not_ours(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if own := sorted(OWN_QUEUES.intersection(value)):
            raise ValueError(f"no queue named {own[0]!r}, which Valkyr reserves")
        return value

    @field_validator("public_url")
    @classmethod
    def _without_slash(cls, value: str) -> str:
        return value.rstrip("/")


class AccessSettings(SettingsModel):
    """Access to the API, and its rate limits. A rate of 0 means no limit."""

    title: ClassVar[str] = "Signing in and rates"

    authentication_classes: Words = setting(
        (),
        "Additional authentication classes of Django REST framework that the API accepts, "
        "as dotted paths",
        unset="none",
    )
    token_days: int = setting(90, "Default lifetime of an API token", unit=DAYS, ge=1)
    token_max_days: int = setting(365, "Maximum lifetime of an API token", unit=DAYS, ge=1)
    trusted_proxies: Networks = setting(
        (),
        "Only on the stand-alone platform: addresses or networks of your proxies. The "
        "`X-Forwarded-For` header of these proxies gives the caller's address for the audit trail "
        "and rate limits. From other callers' requests, Valkyr removes the `X-Forwarded-*` "
        "headers. If the setting is empty, Valkyr ignores forwarded addresses, but accepts "
        "`X-Forwarded-Proto` from every caller",
        unset="none",
    )
    api_rate: int = setting(
        60_000,
        "Maximum requests from one user, across all of the user's tokens",
        unit=A_MINUTE,
        ge=0,
    )
    trigger_rate: int = setting(
        30_000,
        "Maximum requests from one user to start executions; a batch counts as one request",
        unit=A_MINUTE,
        ge=0,
    )
    refusal_rate: int = setting(
        300,
        "Maximum requests without a valid sign-in from one address (in IPv6, one /64 network); "
        "further requests get a 429 instead of the 401. Requests for the public JSON Schema of "
        "workflow definitions have the same limit, but are counted separately",
        unit=A_MINUTE,
        ge=0,
    )
    webhook_rate: int = setting(
        600,
        "Maximum authenticated requests from one address to one webhook; further requests get a "
        "429",
        unit=A_MINUTE,
        ge=0,
    )
    webhook_waiters: int = setting(
        32,
        "Maximum number of webhook requests that wait for a result at the same time in one web "
        "process; further requests get the execution's id",
        ge=0,
    )
    live_viewers: int = setting(
        300,
        "Maximum number of live connections (monitors and other clients) of one web process; "
        "further connections get a 503",
        ge=0,
    )
    live_viewers_each: int = setting(
        50,
        "Maximum number of live connections of one user to one web process; further connections "
        "get a 429",
        ge=0,
    )


GROUPS: tuple[type[SettingsModel], ...] = (
    PlaceSettings,
    AccessSettings,
    WorkerSettings,
    DefinitionSettings,
    RetentionSettings,
    PayloadStoreSettings,
    SealingSettings,
    MetricsSettings,
)


class EngineSettings(
    MetricsSettings,
    SealingSettings,
    PayloadStoreSettings,
    RetentionSettings,
    DefinitionSettings,
    WorkerSettings,
    AccessSettings,
    PlaceSettings,
):
    """All settings of the engine."""
