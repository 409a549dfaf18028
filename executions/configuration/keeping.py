"""Settings of retention, sealing and metrics."""

from typing import Any, ClassVar

from pydantic import SecretStr, field_validator

from executions.configuration.model import Networks, SettingsModel, setting

DAYS = "days"


class RetentionSettings(SettingsModel):
    """The time for which rows are kept; 0 means forever unless stated otherwise."""

    title: ClassVar[str] = "How long things are kept"

    event_retention_days: float = setting(
        30,
        "How long delivered events, with their ids, and resolved refused messages are kept; "
        "undelivered events and unresolved messages are always kept",
        unit=DAYS,
        ge=0,
    )
    dlq_retention_days: float = setting(
        30,
        "How long a resolved dead letter is kept; open ones are always kept",
        unit=DAYS,
        ge=0,
    )
    keep_succeeded_days: float = setting(
        30,
        "How long an execution that succeeded is kept, with its runs. See [when executions are "
        "kept longer](../how-to/operations.md#retention)",
        unit=DAYS,
        ge=0,
    )
    keep_failed_days: float = setting(
        90,
        "How long a failed or timed-out execution is kept (at least as long as its dead letters)",
        unit=DAYS,
        ge=0,
    )
    keep_cancelled_days: float = setting(
        30, "How long a cancelled execution is kept", unit=DAYS, ge=0
    )
    keep_overrides: Any = setting(
        "",
        'Exceptions as JSON: `{"finance": {"succeeded": 365}, "default/order-import": '
        '{"succeeded": 3}, "tier:free": {"failed": 7}}`. A workflow\'s entry takes '
        "precedence over its workspace's entry, and the workspace's entry over its tier's entry",
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
        "How long a schedule's fire time that started nothing is kept; other fire times are "
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


class PayloadStoreSettings(SettingsModel):
    """Object storage for large values ([how it works](../how-to/payload-storage.md))."""

    title: ClassVar[str] = "Large values"

    payload_store: str = setting(
        "",
        "Where large values are stored: `s3://bucket/prefix`, `file:///srv/valkyr-payloads`, or "
        "another address that fsspec opens; the same for all processes. Keep this setting while "
        "stored values are needed",
        unset="none: all values are in the database",
    )
    payload_store_above: int = setting(
        262_144,
        "Payloads, inputs, outputs and variables whose JSON is longer than this are kept in the "
        "store",
        unit="bytes",
        ge=4_096,
        le=5_242_880,
    )
    payload_store_limit: int = setting(
        67_108_864,
        "With a store: the maximum size of a step's output or inputs, or of a variable",
        unit="bytes",
        ge=5_242_880,
    )
    payload_start_limit: int = setting(
        1_048_576,
        "With a store: the largest payload of a start. Without a store, and for starts in the "
        "caller's transaction, the limit is 1 MiB. For the API, also raise "
        "`VALKYR_MAX_BODY_BYTES`",
        unit="bytes",
        ge=1_048_576,
        le=1_073_741_824,
    )
    payload_content_limit: int = setting(
        1_073_741_824,
        "The maximum size of content that a module streams to the store, such as the body of "
        "`http.request` with `store`",
        unit="bytes",
        ge=1_048_576,
    )
    payload_load_limit: int = setting(
        16_777_216,
        "The maximum total size of the values that the templates of one step load from the store",
        unit="bytes",
        ge=65_536,
    )
    payload_grace_hours: float = setting(
        24,
        "Minimum time for which Valkyr keeps a stored value after last storing it or finding it in "
        "use",
        unit="hours",
        ge=0,
    )

    @field_validator("payload_store")
    @classmethod
    def _an_address(cls, value: str) -> str:
        if value and "://" not in value:
            raise ValueError("an address such as s3://bucket/prefix or file:///srv/payloads")
        return value.rstrip("/")


class MetricsSettings(SettingsModel):
    """Access to metrics."""

    title: ClassVar[str] = "Watching"

    metrics_token: SecretStr = setting(
        SecretStr(""),
        "Bearer token for the details in health responses and, on the stand-alone platform, for "
        "`/metrics`; at least 16 characters, the same for all processes",
        unset="none",
    )
    metrics_networks: Networks = setting(
        (),
        "Only on the stand-alone platform: addresses or networks that may read `/metrics` without "
        "a token",
        unset="this machine; none if a token is set, or if `ALLOWED_HOSTS` (workers and beat: "
        "`VALKYR_METRICS_ADDRESS`) names more than this machine",
    )
    metrics_port: int = setting(
        0,
        "Only on the stand-alone platform: port of a worker's or beat's `/metrics`, one for each "
        "process; 0: off. `make up` sets free ports",
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

    One key seals an installation's data keys, and the data keys seal credentials and other secrets
    in the database. Set one of the first three settings, with the same value for all processes.
    Without a key, Valkyr works until a secret must be stored. Outside AWS KMS, a key is 32 random
    bytes in base64 (`openssl rand -base64 32`). Keep the key apart from the database's backups:
    without the key, nobody can read the secrets in the backups.
    """

    title: ClassVar[str] = "What secrets are sealed with"

    key_file: str = setting(
        "",
        "The file that contains the key. The file must belong to the process's user or to root, "
        "and only its owner may have access (mode `0600`); otherwise, Valkyr rejects the file. "
        "`make up` creates `$VALKYR_HOME/installation.key`",
        unset="none",
    )
    key: SecretStr = setting(SecretStr(""), "The key itself", unset="none")
    key_uri: str = setting(
        "",
        "A key in AWS KMS, `aws-kms://arn:aws:kms:…`; boto3's variables name the account and the "
        "endpoint (`AWS_PROFILE`, `AWS_ENDPOINT_URL_KMS`, …)",
        unset="none",
    )
    key_old_file: str = setting(
        "",
        "The file with the previous key, while an installation changes its key (`manage.py keys "
        "rewrap`)",
        unset="none",
    )
    key_old: SecretStr = setting(SecretStr(""), "The previous key itself", unset="none")
    key_old_uri: str = setting("", "The previous key in AWS KMS", unset="none")
