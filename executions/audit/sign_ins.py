"""Record successful and failed sign-ins, and sign-outs; importing this module connects receivers.

Events of accounts belong to the whole installation, not to one workspace. Passwords are never
recorded; a failed sign-in records the submitted user name and the client's address.
"""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver

from executions.access.actor import Actor, record

LONGEST_NAME = 200


def record_token(user: Any, request: Any) -> None:
    """Record that a token pair was issued for a user name and password."""
    _record("account.token", Actor.at_door(request, user.pk, user.get_username()), user.pk)


@receiver(user_logged_in)
def _signed_in(sender: Any, request: Any, user: Any, **kwargs: Any) -> None:
    _record("account.sign_in", Actor.at_door(request, user.pk, user.get_username()), user.pk)


@receiver(user_logged_out)
def _signed_out(sender: Any, request: Any, user: Any, **kwargs: Any) -> None:
    # Without a signed-in user, there is no sign-out to record.
    if user is not None:
        _record("account.sign_out", Actor.at_door(request, user.pk, user.get_username()), user.pk)


@receiver(user_login_failed)
def _refused(sender: Any, credentials: Any, request: Any = None, **kwargs: Any) -> None:
    name = credentials.get(get_user_model().USERNAME_FIELD) or credentials.get("username")
    given = str(name or "").replace("\x00", "")[:LONGEST_NAME]
    # The name as typed, but with question marks for characters that the database cannot store.
    name = given.encode(errors="replace").decode()
    _record("account.sign_in_failed", Actor.at_door(request, None, name), "")


def _record(action: str, actor: Actor, user_id: Any) -> None:
    record(actor, action, workspace_id=None, object_type="User", object_id=user_id)
