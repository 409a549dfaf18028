"""The app `dlq`."""

from executions.plugins import ApiConfig


class DlqConfig(ApiConfig):
    """The app of dead letters, failure groups and retention."""

    name = "dlq"
    verbose_name = "Dead letters"
    api = "dlq.api.urls"
    api_enums = {
        "FailureType": "dlq.models.FailureType",
        "GroupStatus": "dlq.models.GroupStatus",
        "SettableStatus": "dlq.api.group_shapes.SETTABLE",
        "Resolution": "dlq.models.Resolution",
    }

    def ready(self) -> None:
        """Connect the app to the engine's ports and signals, and register its health check."""
        from dlq import health  # noqa: F401 - connects on import
        from dlq.browse import entry_reads  # noqa: F401 - connects on import
        from dlq.intake import receive  # noqa: F401 - connects on import
        from dlq.resolve import discard  # noqa: F401 - connects on import
