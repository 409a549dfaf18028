"""The app `dlq`."""

from django.apps import AppConfig


class DlqConfig(AppConfig):
    """Dead letters and what operators do with them."""

    name = "dlq"
    verbose_name = "Dead letters"

    def ready(self) -> None:
        """Take in dead runs; close those that a roll-back made history."""
        from dlq import health  # noqa: F401 - connects on import
        from dlq.browse import entry_reads  # noqa: F401 - connects on import
        from dlq.intake import receive  # noqa: F401 - connects on import
        from dlq.resolve import discard  # noqa: F401 - connects on import
