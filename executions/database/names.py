"""Project-specific names in hand-written SQL: account tables, and labels of Valkyr's apps.

SQL uses `{user_table}`, `{user_key}`, `{user_type}`, `{user_columns}` and `{user_groups}` for the
project's account model, and Valkyr's default table names (`runners_run`). These names are replaced
when a statement is first read.
"""

import re
from functools import cache
from typing import Any

from django.apps import apps
from django.contrib.auth import get_user_model
from django.core.exceptions import FieldDoesNotExist

from executions.configuration.labels import ENGINE, label
from executions.database.routing import connection


def named(sql: str) -> str:
    """Return the SQL with the project's names for accounts and for Valkyr's tables."""
    for token, value in _of_accounts().items():
        sql = sql.replace(token, value)
    tables = _relabelled()
    return _words(tuple(tables)).sub(lambda match: tables[match[0]], sql) if tables else sql


def account_columns() -> str:
    """Return the account table's columns, prefixed with the alias `u`, in the model's order."""
    columns = (field.column for field in get_user_model()._meta.concrete_fields)
    return ", ".join(f"u.{_quoted(column)}" for column in columns if column)


@cache
def _of_accounts() -> dict[str, str]:
    model = get_user_model()
    key = model._meta.pk
    return {
        "{user_table}": _accounts_of(model),
        "{user_key}": _quoted(str(key.column)),
        "{user_type}": str(key.rel_db_type(connection)),
        "{user_groups}": _groups(),
        "{user_columns}": account_columns(),
    }


def _accounts_of(model: Any) -> str:
    """Return the table of accounts, as a join if the account model inherits from other models."""
    meta = model._meta
    if not meta.parents:
        return _quoted(meta.db_table)
    columns = ", ".join(
        f"{_quoted(f.model._meta.db_table)}.{_quoted(f.column)}" for f in meta.concrete_fields
    )
    joins = " ".join(
        f"JOIN {_quoted(one._meta.db_table)} ON "
        f"{_quoted(one._meta.db_table)}.{_quoted(one._meta.pk.column)} = "
        f"{_quoted(meta.db_table)}.{_quoted(meta.pk.column)}"
        for one in meta.get_parent_list()
    )
    return f"(SELECT {columns} FROM {_quoted(meta.db_table)} {joins})"  # noqa: S608 - quoted names


def _groups() -> str:
    """Return a table expression with `user_id` and `group_id`, empty if the model has no groups."""
    model = get_user_model()
    try:
        field: Any = model._meta.get_field("groups")
        through = field.remote_field.through._meta.db_table
        person, group = field.m2m_column_name(), field.m2m_reverse_name()
    except (FieldDoesNotExist, AttributeError):
        nobody = f"NULL::{model._meta.pk.rel_db_type(connection)}"
        return f"(SELECT {nobody} AS user_id, NULL::integer AS group_id WHERE false)"
    columns = f"{_quoted(person)} AS user_id, {_quoted(group)} AS group_id"
    return f"(SELECT {columns} FROM {_quoted(through)})"  # noqa: S608 - quoted names


@cache
def _relabelled() -> dict[str, str]:
    """Return this project's table names, keyed by the usual names, for apps with another label."""
    names = {}
    for package in ENGINE:
        if label(package) != package:
            for model in apps.get_app_config(label(package)).get_models():
                usual = f"{package}_{model._meta.model_name}"
                if model._meta.managed and not model._meta.proxy:
                    names[usual] = model._meta.db_table
    return names


@cache
def _words(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
