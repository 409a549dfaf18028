"""The settings of remote runners."""

from typing import ClassVar

from executions.public.configuration import SettingsModel, setting


class RemoteSettings(SettingsModel):
    """The plugin `remote`; `REMOTE_QUEUES` above lists its queues."""

    title: ClassVar[str] = "Remote runners"

    remote_waiters: int = setting(
        32,
        "Remote runners that one web process lets wait for work at once; further ones get "
        "an answer at once",
        ge=0,
    )
