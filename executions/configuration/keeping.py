"""Settings of retention, sealing and metrics."""

from typing import Any, ClassVar

from pydantic import SecretStr, field_validator

from executions.configuration.model import Networks, SettingsModel, setting

DAYS = "days"


class RetentionSettings(SettingsModel):
    """How long rows are kept; 0 means forever unless stated otherwise."""

    title: ClassVar[str] = "How long things are kept"

    event_retention_days: float = setting(
        30,
        "How long an event, its id, or a resolved refused message is kept",
        unit=DAYS,
        ge=0,
    )
    dlq_retention_days: float = setting(
        30, "How long a resolved dead letter is kept; open ones are always kept", unit=DAYS, ge=0
    )
    keep_succeeded_days: float = setting(
        30,
        "How long an execution that succeeded is kept, with its runs and checkpoints. [What is "
        "kept in any case](../how-to/operations.md#retention)",
        unit=DAYS,
        ge=0,
    )
    keep_failed_days: float = setting(
        90,
        "How long a failed or timed-out execution is kept, and at least as long as its "
        "dead letters",
        unit=DAYS,
        ge=0,
    )
    keep_cancelled_days: float = setting(
        30, "How long a cancelled execution is kept", unit=DAYS, ge=0
    )
    keep_overrides: Any = setting(
        "",
        'Exceptions as JSON: `{"finance": {"succeeded": 365}, "default/order-import": '
        '{"succeeded": 3}, "tier:free": {"failed": 7}}`. A workflow\'s entry comes before '
        "its workspace's, and that before its tier's",
        unset="none",
    )
    test_version_hours: float = setting(
        24,
        "How long a [test version](../how-to/workflows.md#test-runs) and its executions are kept",
        unit="hours",
        ge=0,
    )
    keep_logs_days: float = setting(
        0,
        "How long the logs of steps are kept after the end of their execution; 0: as long "
        "as the execution",
        unit=DAYS,
        ge=0,
    )
    keep_ticks_days: float = setting(
        30,
        "How long a fire time of a schedule that started nothing is kept; others are "
        "deleted with their execution",
        unit=DAYS,
        ge=0,
    )
    keep_credential_uses_days: float = setting(
        90,
        "How long a [use of a credential](../how-to/short-lived-credentials.md#uses) by a step is "
        "kept",
        unit=DAYS,
        ge=0,
    )


class MetricsSettings(SettingsModel):
    """Access to metrics."""

    title: ClassVar[str] = "Watching"

    metrics_token: SecretStr = setting(
        SecretStr(""),
        "Bearer token for `/metrics` and the details of health; 16 characters or more, the same "
        "for all processes",
        unset="none",
    )
    metrics_networks: Networks = setting(
        (),
        "Addresses or networks that may read `/metrics` without a token",
        unset="this machine; none where there is a token, or where `ALLOWED_HOSTS` names more than "
        "this machine (workers and beat: this machine, unless there is a token)",
    )
    metrics_port: int = setting(
        0,
        "Port of a worker's or beat's `/metrics`, one for each process; 0: off. `make up` "
        "sets free ports",
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
    """The installation's key.

    One key seals an installation's data keys, and those seal credentials and other secrets in the
    database. Set one of the first three, with the same value for all processes. Without a key,
    Valkyr works until a secret is to be stored. A key is 32 random bytes in base64 (`openssl rand
    -base64 32`). Keep it apart from the database's backups: without it, the secrets in them cannot
    be read.
    """

    title: ClassVar[str] = "What secrets are sealed with"

    key_file: str = setting(
        "",
        "A file that contains the key and that only its owner (this user, or root) can read; "
        "otherwise it is rejected. `make up` makes `$VALKYR_HOME/installation.key`",
        unset="none",
    )
    key: SecretStr = setting(SecretStr(""), "The key itself", unset="none")
    key_uri: str = setting(
        "",
        "A key in AWS KMS, `aws-kms://arn:aws:kms:…`; boto3's own variables name account "
        "and endpoint (`AWS_PROFILE`, `AWS_ENDPOINT_URL_KMS`, …)",
        unset="none",
    )
    key_old_file: str = setting(
        "",
        "The file of the previous key, while an installation changes its key (`manage.py "
        "keys rewrap`)",
        unset="none",
    )
    key_old: SecretStr = setting(SecretStr(""), "The same, as the key itself", unset="none")
    key_old_uri: str = setting("", "The same, as a key in AWS KMS", unset="none")
