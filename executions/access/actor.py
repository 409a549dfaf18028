"""Actors (users and systems), the origin of their requests, and the audit rows of their actions."""

import getpass
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder

from executions import addresses
from executions.database import accounts, statements
from executions.database.ids import uuid7

# Entry points in the audit trail, by the prefix of the route's name. Plugins add their own.
DOORS: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Actor:
    """A person, a system or an agent; `user_id` is None for an actor without an account.

    `via` is the entry point or the part of Valkyr that acts, such as `admin`, `api`, `site`, `api
    token <name>`, `command` or `engine`. `address` is the peer's IP address.
    """

    user_id: Any
    name: str
    via: str = ""
    address: str | None = None

    @classmethod
    def of(cls, user: Any, via: str = "") -> "Actor":
        """Return a Django user as an actor, for code outside a request."""
        accounts.ensure(user.pk)
        return cls(user.pk, user.get_username(), via)

    @classmethod
    def of_request(cls, request: Any) -> "Actor":
        """Return a request's actor: the signed-in user, with the entry point and the peer address.

        Uses the peer's own address, since the caller could forge a forwarded address. Behind a
        proxy, configure the server to trust the proxy (docs/explanation/security.md).
        """
        user = request.user
        token = getattr(request, "auth", None)
        name = getattr(token, "name", "")
        via = f"api token {name}"[:120] if name else ""
        return cls.at_door(request, user.pk, user.get_username(), via)

    @classmethod
    def at_door(cls, request: Any, user_id: Any, name: str, via: str = "") -> "Actor":
        """Return the actor with this ID and name; without a request, the actor has no address."""
        accounts.ensure(user_id)
        if request is None:
            return cls(user_id, name, via)
        address = request.META.get("REMOTE_ADDR") or None
        # Requests that Valkyr makes itself, such as the command line's, set this key. A client
        # cannot: keys of headers begin with HTTP_.
        door = request.META.get("valkyr.door") or _door(request)
        return cls(user_id, name, via or door, address)

    @classmethod
    def of_command(cls) -> "Actor":
        """Return the actor of a management command, named after the operating system's user."""
        try:
            name = getpass.getuser()
        except (KeyError, OSError):
            name = f"user {os.getuid()}"
        return cls(None, name, "command")

    @classmethod
    def system(cls, name: str) -> "Actor":
        """Return the engine as the actor; `name` is the part of the engine that acts."""
        return cls(None, name, "engine")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine:
    """A line of the audit trail without its actor; see `record`."""

    action: str
    workspace_id: UUID | None
    object_type: str
    object_id: Any
    reason: str = ""
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    details: Mapping[str, Any] | None = None


def _json(facts: Mapping[str, Any]) -> str:
    # Keys of accounts may be UUIDs, which `json` cannot encode.
    return json.dumps(dict(facts), cls=DjangoJSONEncoder)


def _door(request: Any) -> str:
    """Return the request's entry point: `admin`, `api`, `site`, or the name of a plugin's pages."""
    match = getattr(request, "resolver_match", None)
    if match is None:
        return "api"
    if "admin" in match.app_names:
        return "admin"
    name = match.url_name or ""
    ours = "api" if name.startswith(addresses.PREFIX) else "site"
    return next((door for start, door in DOORS.items() if name.startswith(start)), ours)


def record(
    actor: Actor,
    action: str,
    *,
    workspace_id: UUID | None,
    object_type: str,
    object_id: Any,
    reason: str = "",
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    details: Mapping[str, Any] | None = None,
) -> UUID:
    """Write one row of the audit trail in the caller's transaction; return the row's ID.

    `before` and `after` hold the old and the new values of changed fields, never a secret. A row
    without a workspace concerns the whole installation.
    """
    line = AuditLine(
        action=action,
        workspace_id=workspace_id,
        object_type=object_type,
        object_id=object_id,
        reason=reason,
        before=before,
        after=after,
        details=details,
    )
    noted = _noted(actor, line)
    statements.fetch("note_activity", noted)
    found: UUID = noted["id"]
    return found


def recording(actor: Actor, line: AuditLine) -> statements.BoundStatement:
    """Return the statement that `record` executes, to run it together with other statements."""
    return statements.asked("note_activity", _noted(actor, line))


def _noted(actor: Actor, line: AuditLine) -> dict[str, Any]:
    return {
        "id": uuid7(),
        "workspace": line.workspace_id,
        "actor": actor.user_id,
        "actor_name": actor.name[:200],
        "via": actor.via,
        "address": actor.address,
        "action": line.action,
        "object_type": line.object_type,
        "object_id": str(line.object_id),
        "reason": line.reason,
        "before": None if line.before is None else _json(line.before),
        "after": None if line.after is None else _json(line.after),
        "details": _json(line.details or {}),
    }


def record_all(actor: Actor, lines: Sequence[AuditLine]) -> None:
    """Write up to 1,000 lines of one actor as rows of the audit trail, in one statement."""
    if not lines:
        return
    rows = [
        {
            "id": uuid7(),
            "workspace": line.workspace_id,
            "action": line.action,
            "object_type": line.object_type,
            "object_id": str(line.object_id),
            "reason": line.reason,
            "before": line.before,
            "after": line.after,
            "details": line.details or {},
        }
        for line in lines
    ]
    statements.fetch(
        "note_activities",
        {
            "lines": json.dumps(rows, cls=DjangoJSONEncoder),
            "actor": actor.user_id,
            "actor_name": actor.name[:200],
            "via": actor.via,
            "address": actor.address,
        },
    )
