"""Authenticate callers: find the account of a bearer token or session, and record its use."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import DatabaseError, OperationalError
from django.db.models import Q

from executions.access import TokenLimits
from executions.access.people import read_key
from executions.access.scoping import sees_all
from executions.accounts import tokens
from executions.accounts.errors import TokenRefused
from executions.database import accounts, ahead, alias, transaction
from executions.database.ahead import Rows
from executions.database.clock import ClockTimestamp
from executions.database.routing import aliases, first, in_first, serving, turn_to
from executions.database.row_scope import (
    ANY,
    UNKNOWN,
    RowScope,
    ScopeWatcher,
    current,
    limited,
    scoped_role,
    settable,
)
from executions.database.silent_cells import part_in
from executions.database.statements import BoundStatement, asked, fetch_one
from executions.models import AccountSession, ApiToken

# The last use of a token or session, with its time and address, is written at most once a minute.


log = logging.getLogger(__name__)
NOTED_EVERY = timedelta(minutes=1)
ENDED = ("This session has ended. Sign in again.", "session_ended")
# The attribute of a request whose session must not use the API: a TokenRefused with the reason.
SESSION_REFUSAL = "valkyr_session_refusal"


def note(
    model: type[ApiToken | AccountSession],
    pk: UUID,
    last: datetime | None,
    now: datetime,
    address: str | None,
) -> None:
    """Record the last use of a token or session, at most once a minute; skip locked rows."""
    if last is not None and now - last < NOTED_EVERY:
        return
    rows: Any = model._default_manager
    due = Q(last_used_at=None) | Q(last_used_at__lte=now - NOTED_EVERY)
    unlocked = rows.select_for_update(skip_locked=True, no_key=True)
    try:
        with transaction.atomic():
            if unlocked.filter(due, pk=pk).values_list("pk").first():
                rows.filter(pk=pk).update(last_used_at=ClockTimestamp(), last_used_from=address)
    except DatabaseError as error:
        log.warning("The use of %s %s was not recorded: %s", model._meta.verbose_name, pk, error)


@in_first
def note_session(pk: UUID, last: datetime, now: datetime, address: str | None) -> None:
    """Record the last use of a session, as `note` does."""
    note(AccountSession, pk, last, now, address)


# Every request reads its account, session or token with a prepared statement.
#
# The statements return Django's model objects. The ORM would build its SQL each time, which takes
# several times as long as the query.


_OF_USER, _OF_TOKEN = (
    [field.attname for field in model._meta.concrete_fields]
    for model in (get_user_model(), ApiToken)
)


@dataclass(frozen=True, slots=True)
class AccountInSession:
    """An account, the last use of its live session, and the current time of the database."""

    user: Any
    now: datetime
    last_used: datetime


Likely = Callable[[Any], Sequence[BoundStatement]]
"""Returns the statements that a caller with that account's key will probably need next."""


def nothing(user_id: Any) -> Sequence[BoundStatement]:
    """Return no statements, so that no rows are read in advance."""
    return ()


def account_in_session(
    session_id: UUID, user_id: Any, likely: Likely = nothing
) -> AccountInSession:
    """Read the account and check the session in one statement.

    Raises TokenRefused if the account has no such live session.
    """
    try:
        key = read_key(user_id)
    except ValueError:
        raise TokenRefused(*ENDED) from None
    together = likely(key) if alias() == first() else ()
    given = {"id": key, "session": session_id}
    with serving(first()):
        watcher = settable(first())
        if watcher is None:
            return _account(_unlimited(given, together))
        return _account_in_scope(watcher, RowScope(key), given, together)


def _unlimited(given: Mapping[str, Any], together: Sequence[BoundStatement]) -> Rows:
    """Return the account's row, and read the rows of `together` ahead in the same round trip."""
    with limited(current() if together else ANY):
        return ahead.fetch(asked("account_in_session", given), together)


def _account_in_scope(
    watcher: ScopeWatcher,
    scope: RowScope,
    given: Mapping[str, Any],
    together: Sequence[BoundStatement],
) -> AccountInSession:
    """Return the account; the same statement limits the database session to the account's rows.

    `together` runs within these limits; its results are dropped if the account has no limits.
    """
    watcher.is_set_to(UNKNOWN)
    with limited(ANY):
        statement = asked("account_in_scope", {**given, "role": scoped_role()})
        found = _account([row[2:] for row in ahead.fetch(statement, together)])
    watcher.is_set_to(scope)
    found.user.row_scope = scope
    if sees_all(found.user):
        ahead.drop()
    return found


def _account(rows: Rows) -> AccountInSession:
    """Return the account of the first row. Raises TokenRefused if there is no row."""
    if not rows:
        raise TokenRefused(*ENDED)
    now, last_used, *columns = rows[0]
    return AccountInSession(accounts.original(_user(columns)), now, last_used)


@in_first
def live_session(session_id: UUID, user_id: Any) -> tuple[datetime, datetime] | None:
    """Return the current time and the session's last use; None if the session is not live."""
    row = fetch_one("live_session", {"session": session_id, "id": user_id})
    return None if row is None else (row[0], row[1])


# The owners of recently used tokens, by digest, used only to guess which rows to prefetch. The
# owner of a token is always read.
_guesses: dict[str, Any] = {}
MOST_GUESSES = 10_000


def token_of(digest: str, likely: Likely = nothing) -> tuple[ApiToken, datetime] | None:
    """Return the API token with its user, and the current time; None if there is no such token."""
    if len(places := _places(digest)) > 1:
        return _token_in(places, digest, likely)
    return _token_here(digest, likely)


# The databases of recently used tokens, by digest.
_homes: dict[str, str] = {}


def _places(digest: str) -> list[str]:
    """Return the aliases of databases that may have the token, the most likely first."""
    return list(dict.fromkeys([_homes.get(digest) or alias(), alias(), *aliases()]))


def _token_in(
    places: Sequence[str], digest: str, likely: Likely
) -> tuple[ApiToken, datetime] | None:
    """Return the token, and switch to the database that has it; return None if none has it.

    Raises OperationalError if none has it and one of them does not respond.
    """
    failed: OperationalError | None = None
    here = alias()
    for place in places:
        try:
            with part_in(place):
                found = _token_here(digest, likely if place == here else nothing)
        except OperationalError as error:
            failed = error
            continue
        if found is not None:
            if len(_homes) >= MOST_GUESSES:
                _homes.clear()
            _homes[digest] = place
            turn_to(place)
            return found
    if failed is not None:
        raise failed
    return None


def _token_here(digest: str, likely: Likely) -> tuple[ApiToken, datetime] | None:
    guess = _guesses.get(digest)
    following = () if guess is None else likely(guess)
    row = next(iter(ahead.fetch(asked("token_with_user", {"digest": digest}), following)), None)
    if row is None:
        _guesses.pop(digest, None)
        return None
    now, *columns = row
    token = ApiToken.from_db(alias(), _OF_TOKEN, columns[: len(_OF_TOKEN)])
    token.user = accounts.original(_user(columns[len(_OF_TOKEN) :]))
    if len(_guesses) >= MOST_GUESSES:
        _guesses.clear()
    _guesses[digest] = token.user_id
    return token, now


def _user(columns: Sequence[Any]) -> Any:
    return get_user_model().from_db(alias(), _OF_USER, columns)


def signed_in(text: str, address: str | None, likely: Likely = nothing) -> tuple[Any, ApiToken]:
    """Return the token's user, with `token_limits` set, and the token. Raises TokenRefused.

    `address` is the peer's address, which is stored as the address of the token's last use.
    """
    if not tokens.is_well_formed(text):
        raise TokenRefused(
            "This is not an API token: it begins like one, but its checksum is wrong. Copy it "
            "again.",
            "token_malformed",
        )
    found = token_of(tokens.digest(text), likely)
    if found is None:
        raise TokenRefused(
            "This installation has no such API token. Check the URL and the token.", "token_unknown"
        )
    token, now = found
    _refuse_over(token, now)
    with serving(str(token._state.db)):
        note(ApiToken, token.pk, token.last_used_at, now, address)
    user: Any = token.user
    user.token_limits = TokenLimits(token.workspace_id, frozenset(token.scopes))
    return user, token


def _refuse_over(token: ApiToken, now: datetime) -> None:
    name = f"The API token {token.name!r} ({token.prefix}…)"
    if not token.user.is_active:
        raise TokenRefused(
            f"The account of {name} is disabled. Ask an administrator to enable it.",
            "account_disabled",
        )
    if token.revoked_at is not None:
        raise TokenRefused(f"{name} was revoked. Create a new one.", "token_revoked")
    if token.expires_at is not None and token.expires_at <= now:
        raise TokenRefused(
            f"{name} expired at {token.expires_at:%Y-%m-%d %H:%M} UTC. Create a new one.",
            "token_expired",
        )
