"""`Idempotency-Key`: a repeated request gets the first response, and its effects happen once.

The request is one transaction, which commits its effects together with the stored response. Only
successful responses are stored; they are sealed and valid for 24 hours. Without a sealing key, a
request with an `Idempotency-Key` is rejected, since its response could not be stored.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.utils.crypto import salted_hmac
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions import payloads
from executions.access.powers import limits_of
from executions.api.pinned import JsonRenderer
from executions.database import statements, transaction
from executions.database.clock import database_now
from executions.errors import KeyReused, RequestInProgress
from executions.models import KeptAnswer
from executions.sealing import place_of, prepare, seal, unseal
from executions.triggers.retention import KEPT

KEPT_HEADERS = ("Location", "ETag")
MAX_BYTES = 2**31  # no limit, because the parsers have already limited the body
_KEY = re.compile(r"[\x21-\x7e]{1,200}")


def idempotency_key(request: Request) -> str | None:
    """Return the request's key, if it has one. Raises ValidationError for an invalid key."""
    key = request.headers.get("Idempotency-Key")
    if key is not None and not _KEY.fullmatch(key):
        raise ValidationError(
            {"Idempotency-Key": "Expected 1 to 200 visible ASCII characters without spaces."},
            code="bad_key",
        )
    return key


def once(method: Callable[..., Response]) -> Callable[..., Response]:
    """Return a view's method that, with an idempotency key, succeeds once per caller and key.

    The view's `before_once`, if any, runs before the transaction. Raises ValidationError for an
    invalid key, KeyReused if the key was used with a different request, and RequestInProgress while
    the first request with the key is running.
    """

    @wraps(method)
    def answer(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = idempotency_key(request)
        if key is None:
            return method(view, request, *args, **kwargs)
        asked = _Asked.of(request, key)
        before = getattr(view, "before_once", None)
        if before is not None:
            before(request, *args, **kwargs)
        prepare()
        with transaction.atomic():
            _lock(asked)
            known = _known(asked)
            if known is not None:
                return known
            made = method(view, request, *args, **kwargs)
            if made.status_code < 300:
                _keep(asked, made)
            return made

    return answer


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request with a key: the caller, the key, the operation and the content's digest."""

    user_id: Any
    key: str
    operation: str
    digest: str

    @classmethod
    def of(cls, request: Request, key: str) -> "_Asked":
        # A token's scopes are part of the caller's identity: a token with fewer scopes must not get
        # the stored response of another.
        limits = limits_of(request.user)
        content = [
            sorted(request.query_params.lists()),
            (request.content_type or "").partition(";")[0].strip().lower(),
            None if limits is None else [str(limits.workspace_id), sorted(limits.scopes)],
            request.data,
        ]
        text = payloads.dump(content, "body", MAX_BYTES)
        operation = f"{request.method} {request.path}"[:300]
        user_id = request.user.pk
        assert user_id is not None
        return cls(user_id, key, operation, _digest(text))


def _digest(text: str) -> str:
    """Return a digest of the request's content, keyed with the server's secret.

    Bodies can contain passwords, and a plain digest could be tested against a list of guesses.
    """
    return salted_hmac("executions.idempotency", text, algorithm="sha256").hexdigest()


def _lock(asked: _Asked) -> None:
    name = payloads.digest(f"idempotency {asked.user_id} {asked.key}")
    row = statements.fetch_one("try_advisory_lock", {"number": int(name[:16], 16) - 2**63})
    if row is None or not row[0]:
        raise RequestInProgress(
            f"A request with the idempotency key {asked.key!r} is running. Repeat the request in "
            "a second to get its answer.",
            retry_after=1,
        )


def _known(asked: _Asked) -> Response | None:
    kept = KeptAnswer.objects.filter(user_id=asked.user_id, key=asked.key).first()
    if kept is None:
        return None
    if kept.created_at < database_now() - KEPT:
        kept.delete()
        return None
    if (kept.operation, kept.request_hash) != (asked.operation, asked.digest):
        raise KeyReused(
            f"You used the idempotency key {asked.key!r} for {kept.operation}, with another body "
            "or as another caller. Use a new key for a new request."
        )
    body = unseal(kept.sealed, place_of(kept))
    headers = kept.headers | {"Idempotency-Replayed": "true"}
    return Response(json.loads(body) if body else None, kept.status, headers=headers)


def _keep(asked: _Asked, made: Response) -> None:
    row = KeptAnswer(
        user_id=asked.user_id,
        key=asked.key,
        operation=asked.operation,
        request_hash=asked.digest,
        status=made.status_code,
        headers={name: made.headers[name] for name in KEPT_HEADERS if name in made.headers},
    )
    sealed = seal(JsonRenderer().render(made.data), place_of(row))
    row.sealed, row.key_id = sealed.value, sealed.key_id
    row.save(force_insert=True)
