"""The settings of remote runners."""

from typing import ClassVar

from executions.public.configuration import SettingsModel, setting


class RemoteSettings(SettingsModel):
    """Settings of the plugin `remote`; `REMOTE_QUEUES` above lists its queues."""

    title: ClassVar[str] = "Remote runners"

    remote_waiters: int = setting(
        32,
        "Maximum number of remote runners that wait for work at the same time in one web process; "
        "further runners get an immediate response",
        ge=0,
    )
