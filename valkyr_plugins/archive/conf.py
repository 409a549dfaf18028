"""The settings of the archive."""

from typing import ClassVar

from pydantic import field_validator

from executions.public.configuration import SettingsModel, read, setting


class ArchiveSettings(SettingsModel):
    """Settings of the plugin `archive` ([how it works](../how-to/archive.md))."""

    title: ClassVar[str] = "Archive"

    archive: str = setting(
        "",
        "Where finished executions are archived before retention deletes them: "
        "`s3://bucket/prefix`, `file:///srv/valkyr-archive`, or another address that fsspec "
        "opens; the same for all processes",
        unset="none: retention deletes executions without a copy",
    )
    archive_file_executions: int = setting(
        50_000, "Maximum number of executions in a file", ge=100, le=1_000_000
    )
    archive_file_bytes: int = setting(
        134_217_728,
        "The size, before compression, at which Valkyr closes a file and begins another one",
        unit="bytes",
        ge=1_048_576,
    )
    archive_keep_days: float = setting(
        0, "How long a file is kept after the day that it covers; 0: forever", unit="days", ge=0
    )
    archive_sql_memory: int = setting(
        536_870_912,
        "Maximum memory of one SQL statement over the archive",
        unit="bytes",
        ge=67_108_864,
    )

    @field_validator("archive")
    @classmethod
    def _an_address(cls, value: str) -> str:
        if value and "://" not in value:
            raise ValueError("an address such as s3://bucket/prefix or file:///srv/archive")
        return value.rstrip("/")


def chosen() -> ArchiveSettings:
    """Return the archive's settings."""
    return read(ArchiveSettings)


def enabled() -> bool:
    """Return whether the installation has an archive."""
    return bool(chosen().archive)
