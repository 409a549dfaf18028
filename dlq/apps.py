"""The app `dlq`."""

from django.apps import AppConfig


class DlqConfig(AppConfig):
    """Dead letters and what operators do with them."""

    name = "dlq"
    verbose_name = "Dead letters"

    def ready(self) -> None:
        """Take in dead runs."""
        from dlq import intake  # noqa: F401 - connects on import
