"""The Django app of the plugin `timetravel`."""

from datetime import timedelta

from executions.public.plugins import PluginConfig
from valkyr_plugins.timetravel.conf import TimeTravelSettings


class TimeTravelConfig(PluginConfig):
    """Checkpoints of executions, and roll-backs, forks, replays and verification."""

    name = "valkyr_plugins.timetravel"
    label = "valkyr_timetravel"
    verbose_name = "Time travel"
    settings_class = TimeTravelSettings
    api = "valkyr_plugins.timetravel.urls"
    api_enums = {"CheckpointKind": "valkyr_plugins.timetravel.models.CheckpointKind"}
    schedule = {
        "valkyr: checkpoints": {
            "task": "valkyr_timetravel.expire_checkpoints",
            "every": timedelta(hours=1),
        },
    }

    def ready(self) -> None:
        """Register the functions that take checkpoints, start forks, and verify executions."""
        from runners.public.checkpoints import take_checkpoint
        from runners.public.forks import fork_execution
        from valkyr_plugins.timetravel import checkpoints, fork, verification

        take_checkpoint.provide(checkpoints.take_after_step)
        fork_execution.provide(fork.fork_as_asked)
        verification.connect()
