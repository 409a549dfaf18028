"""The settings of the SQL views."""

from typing import ClassVar

from executions.public.configuration import SettingsModel, read, setting


class SqlViewsSettings(SettingsModel):
    """Settings of the plugin `sql_views`."""

    title: ClassVar[str] = "SQL views"

    sql_views_schema: str = setting(
        "valkyr_views",
        "The PostgreSQL schema of the views. `manage.py valkyr_sql` uses the role "
        "`<schema>_reader`",
        pattern="^[a-z_][a-z0-9_]{0,50}$",
    )


def schema() -> str:
    """Return the name of the views' schema."""
    return read(SqlViewsSettings).sql_views_schema


def reader() -> str:
    """Return the name of the role with which `valkyr_sql` reads the views."""
    return f"{schema()}_reader"
