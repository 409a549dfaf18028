"""Copy accounts from another database into Valkyr's database, if rows refer to them.

A database can check keys and join tables only within itself. If a project keeps its accounts
elsewhere, each account (or group) to which a row refers is first copied into Valkyr's database,
without its password. The original stays authoritative: sign-in reads it. If the accounts are in
Valkyr's database, this module copies nothing.
"""

import logging
from collections.abc import Callable
from functools import cache
from typing import Any

from django.apps import apps
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import OperationalError, models, router
from django.db.models.signals import post_delete, post_save, pre_save
from django.utils.crypto import salted_hmac

from executions.database.routing import alias, aliases, is_ours, is_same, serving

log = logging.getLogger(__name__)
# The fields that a sign-in changes. With cells, they are not copied, so that a sign-in does not
# wait for every cell.
AT_SIGN_IN = frozenset({"last_login"})
KNOWN_AT_MOST = 10_000
_known: set[tuple[str, type[Any], Any]] = set()


def apart() -> bool:
    """Return whether accounts and Valkyr's tables are in different databases."""
    return _apart(alias())


@cache
def _apart(ours: str) -> bool:
    return not is_same(router.db_for_read(get_user_model()), ours)


def originals(model: Any) -> Any:
    """Return the rows of an account model in the project's own database."""
    return model._default_manager.using(router.db_for_read(model))


def original(account: Any) -> Any:
    """Return an account from the project's own database, to change or check it."""
    return originals(type(account)).get(pk=account.pk) if apart() else account


def ensure(key: Any, model: Any = None) -> None:
    """Copy an account (or row of `model`) to Valkyr's database, unless this process has done so."""
    model = model or get_user_model()
    if key is None or not apart() or (alias(), model, key) in _known:
        return
    found = originals(model).filter(pk=key).first()
    if found is not None:
        _copy(found)


def _copy(account: Any) -> None:
    """Write an account or a group to Valkyr's database, after the rows of its parent models.

    This order is necessary because its own row refers to those rows.
    """
    model = type(account)
    for one in (*reversed(model._meta.get_parent_list()), model):
        _copy_row(account, one)
    if len(_known) >= KNOWN_AT_MOST:
        _known.clear()
    _known.add((alias(), model, account.pk))


def _copy_row(account: Any, model: Any) -> None:
    values = {f.attname: getattr(account, f.attname) for f in model._meta.concrete_fields}
    if values.get("password"):
        # A copy only needs to show that the password changed, because that ends the account's
        # sessions.
        digest = salted_hmac("executions.database.accounts", values["password"], algorithm="sha256")
        values["password"] = f"!copy${digest.hexdigest()}"
    copy = model(**values)
    copy._state.db = alias()
    models.Model.save_base(copy, raw=True, using=alias())


# Keep the copies in sync with the originals.


def connect() -> None:
    """Connect signals that keep copies in sync, if a Valkyr database lacks the originals."""
    if not any(_apart(ours) for ours in aliases()):
        return
    pre_save.connect(_before_ours, dispatch_uid=f"{__name__}.before")
    for model in (get_user_model(), Group):
        post_save.connect(_changed, sender=model, dispatch_uid=f"{__name__}.changed")
        post_delete.connect(_gone, sender=model, dispatch_uid=f"{__name__}.gone")


def _before_ours(sender: Any, instance: Any, raw: bool = False, **_: Any) -> None:
    """Before one of Valkyr's rows is saved, copy the accounts and groups to which it refers."""
    if raw or not is_ours(sender):
        return
    for field in sender._meta.concrete_fields:
        if field.remote_field and field.remote_field.model in (get_user_model(), Group):
            ensure(getattr(instance, field.attname), field.remote_field.model)


def _changed(
    sender: Any,
    instance: Any,
    using: str,
    raw: bool = False,
    update_fields: frozenset[str] | None = None,
    **_: Any,
) -> None:
    if raw or (update_fields == AT_SIGN_IN and len(aliases()) > 1):
        return

    def renew() -> None:
        if sender._base_manager.using(alias()).filter(pk=instance.pk).exists():
            _copy(instance)

    _with_copies(using, renew)


def _gone(sender: Any, instance: Any, using: str, **_: Any) -> None:
    def remove() -> None:
        _known.discard((alias(), sender, instance.pk))
        copy = sender._base_manager.using(alias()).filter(pk=instance.pk).first()
        if copy is not None:
            copy.delete(using=alias())

    _with_copies(using, remove)


def _with_copies(using: str, change: Callable[[], None]) -> None:
    """Make a change in each of Valkyr's databases except `using`, where the original was changed.

    If a cell does not respond, its copy is outdated until the account changes again; sign-in and
    permissions read the original. If the only database fails, raises OperationalError.
    """
    for ours in aliases():
        if is_same(using, ours):
            continue
        try:
            with serving(ours):
                change()
        except OperationalError as error:
            if len(aliases()) == 1:
                raise
            log.warning("the copy of an account in the database %r is outdated: %s", ours, error)


# Deletion rules of foreign keys from Valkyr's rows to accounts.


def _here(using: str) -> bool:
    """Return whether an account is being deleted in Valkyr's database, or the apps are loading.

    Otherwise, `_gone` handles the deletion.
    """
    return not apps.ready or is_same(using, alias())


def cascade(collector: Any, field: Any, rows: Any, using: str) -> None:
    """Delete the rows that refer to an account if the account is deleted in Valkyr's database."""
    if _here(using):
        models.CASCADE(collector, field, rows, using)


def set_null(collector: Any, field: Any, rows: Any, using: str) -> None:
    """Set the reference to an account to null, if the account is deleted in Valkyr's database."""
    if _here(using):
        models.SET_NULL(collector, field, rows, using)


# With this attribute, Django calls the rules before it queries the related rows; otherwise, it
# would query them in the wrong database.
cascade.lazy_sub_objs = set_null.lazy_sub_objs = True  # type: ignore[attr-defined]
