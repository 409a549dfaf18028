from typing import Any

ACCOUNTS = {"people", "auth", "admin", "sessions", "contenttypes", "django_celery_beat"}


class Accounts:
    """The project's own router: accounts and related rows are in the workflows' database."""

    def db_for_read(self, model: Any, **hints: Any) -> str | None:
        return "workflows" if model._meta.app_label in ACCOUNTS else None

    db_for_write = db_for_read

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool | None:
        return db == "workflows" if app_label in ACCOUNTS else None


class Elsewhere:
    """Sends one of Valkyr's apps to the project's first database."""

    def db_for_read(self, model: Any, **hints: Any) -> str | None:
        return "default" if model._meta.app_label == "dlq" else None

    db_for_write = db_for_read


class Nothing:
    """Lets no table of the project into another database."""

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool | None:
        return db == "default" if app_label in ACCOUNTS else None
