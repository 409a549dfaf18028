"""How long rows are kept, what secrets are sealed with, who reads metrics."""

from typing import Any, ClassVar

from pydantic import SecretStr, field_validator

from executions.configuration.model import Networks, SettingsModel, setting

DAYS = "days"


class RetentionSettings(SettingsModel):
    """How long rows are kept; 0 means forever unless stated otherwise."""

    title: ClassVar[str] = "How long things are kept"

    event_retention_days: float = setting(
        30,
        "How long an event, or a refused message that is resolved, is kept; an event's id is known "
        "for as long",
        unit=DAYS,
        ge=0,
    )
    dlq_retention_days: float = setting(
        30, "How long a resolved dead letter is kept; open ones stay", unit=DAYS, ge=0
    )
    keep_succeeded_days: float = setting(
        30,
        "How long an execution that succeeded is kept, with its runs and checkpoints. [What stays "
        "in any case](../how-to/operations.md#retention)",
        unit=DAYS,
        ge=0,
    )
    keep_failed_days: float = setting(
        90,
        "How long one that failed or timed out is kept; as long as a dead letter of it is left in "
        "any case",
        unit=DAYS,
        ge=0,
    )
    keep_cancelled_days: float = setting(
        30, "How long one that was cancelled is kept", unit=DAYS, ge=0
    )
    keep_overrides: Any = setting(
        "",
        'Other days for some, as JSON: `{"finance": {"succeeded": 365}, "default/order-import": '
        '{"succeeded": 3}, "tier:free": {"failed": 7}}`; a workflow\'s before its workspace\'s '
        "before its tier's",
        unset="none",
    )
    test_version_hours: float = setting(
        24,
        "How long a [test version](../how-to/workflows.md#test-runs) is kept, with what ran of it",
        unit="hours",
        ge=0,
    )
    keep_logs_days: float = setting(
        0,
        "How long what steps logged is kept after the end of their execution; 0: as long as the "
        "execution",
        unit=DAYS,
        ge=0,
    )
    keep_ticks_days: float = setting(
        30,
        "How long a schedule's time that started nothing is kept; others go with their execution",
        unit=DAYS,
        ge=0,
    )


class MetricsSettings(SettingsModel):
    """Who may read metrics, and where."""

    title: ClassVar[str] = "Watching"

    metrics_token: SecretStr = setting(
        SecretStr(""),
        "Who sends it as a bearer token reads `/metrics` and health's details; 16 characters or "
        "more, the same for all processes",
        unset="none",
    )
    metrics_networks: Networks = setting(
        (),
        "Addresses or networks that read `/metrics` without a token",
        unset="this machine; none where there is a token, or where `ALLOWED_HOSTS` names more than "
        "this machine (workers and beat: this machine, unless there is a token)",
    )
    metrics_port: int = setting(
        0,
        "Where a worker or beat serves its `/metrics`; 0 is nowhere. One a process: `make up` sets "
        "a free port each",
        ge=0,
        le=65_535,
    )

    @field_validator("metrics_token")
    @classmethod
    def _hard_to_guess(cls, value: SecretStr) -> SecretStr:
        if 0 < len(value.get_secret_value()) < 16:
            raise ValueError("16 characters or more")
        return value


class SealingSettings(SettingsModel):
    """What secrets are sealed with.

    One key seals an installation's data keys, and those seal credentials and other secrets in the
    database. Set one of the first three, the same for all processes. Without one everything works
    until the first secret is to be stored. A key is 32 random bytes in base64
    (`openssl rand -base64 32`). Keep it apart from the database's backups: without it, nobody reads
    the secrets in them.
    """

    title: ClassVar[str] = "What secrets are sealed with"

    key_file: str = setting(
        "",
        "A file that holds the key and that only its owner (this user, or root) can read; refused "
        "otherwise. `make up` makes `$VALKYR_HOME/installation.key`",
        unset="none",
    )
    key: SecretStr = setting(SecretStr(""), "The key itself", unset="none")
    key_uri: str = setting(
        "",
        "A key in AWS KMS, `aws-kms://arn:aws:kms:…`; where and as whom, say boto3's own variables "
        "(`AWS_PROFILE`, `AWS_ENDPOINT_URL_KMS`, …)",
        unset="none",
    )
    key_old_file: str = setting(
        "",
        "The file of the key before, while an installation moves to another (`manage.py keys "
        "rewrap`)",
        unset="none",
    )
    key_old: SecretStr = setting(SecretStr(""), "The same, as the key itself", unset="none")
    key_old_uri: str = setting("", "The same, as a key in AWS KMS", unset="none")
