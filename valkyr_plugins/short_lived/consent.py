"""A user's consent at an OAuth 2.0 server: authorization code with PKCE (RFC 7636).

`begin` returns the address of the server's page. The server sends the browser back with a code and
the signed `state`. A state is valid once, for ten minutes, only in the session that requested it,
and for one version of one credential. `finish` exchanges the code, and stores the sealed refresh
token.
"""

import base64
import hashlib
import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from uuid import UUID

from django.core import signing
from django.utils.translation import gettext

from executions.public.access import Actor
from executions.public.credentials import CredentialSource, Issued, connect
from executions.public.egress import rules_of
from runners.public.modules import StepError, ruled_by
from valkyr_plugins.short_lived import oauth2
from valkyr_plugins.short_lived.fields import is_secure

SALT = "valkyr.short_lived.consent"
SECONDS = 600
PENDING = "valkyr_oauth2"  # the session's key for the newest consents that were begun
MOST_PENDING = 5


class ConsentFailed(Exception):
    """The credential was not connected. The message, shown on a page, says why and what to do."""


def begin(session: Any, source: CredentialSource, redirect: str) -> str:
    """Begin a consent in the session, and return the address of the server's page.

    `redirect` is the address to which the server returns the browser. Raises ConsentFailed.
    """
    page = source.fields.get("authorization_url", "").strip()
    if not is_secure(page):
        raise ConsentFailed(
            gettext("The credential has no authorization_url with https://. Set this field first.")
        )
    nonce, verifier = secrets.token_urlsafe(24), secrets.token_urlsafe(48)
    begun = {"id": str(source.id), "version": source.version, "redirect": redirect}
    kept = [*session.get(PENDING, {}).items()][-(MOST_PENDING - 1) :]
    session[PENDING] = dict(kept) | {nonce: begun | {"verifier": verifier}}
    asked = {
        "response_type": "code",
        "client_id": source.fields["client_id"],
        "redirect_uri": redirect,
        "state": signing.dumps({"id": str(source.id), "nonce": nonce}, salt=SALT),
        "code_challenge": _challenge(verifier),
        "code_challenge_method": "S256",
    }
    asked |= oauth2.wanted(source.fields)
    parts = urlsplit(page)
    # The field may contain further parameters, such as Google's access_type=offline.
    own = [pair for pair in parse_qsl(parts.query) if pair[0] not in asked]
    return urlunsplit(parts._replace(query=urlencode([*own, *asked.items()]), fragment=""))


def pending(session: Any, state: str) -> Mapping[str, Any]:
    """Return the data that `begin` stored for the state, and remove it from the session.

    Raises ConsentFailed.
    """
    try:
        signed = signing.loads(state, salt=SALT, max_age=SECONDS)
    except signing.SignatureExpired:
        raise ConsentFailed(
            gettext("The consent took more than ten minutes. Connect the credential again.")
        ) from None
    except signing.BadSignature:
        signed = {}
    kept = dict(session.get(PENDING, {}))
    begun: Mapping[str, Any] = kept.pop(signed.get("nonce", ""), {})
    if not begun or begun["id"] != signed["id"]:
        raise ConsentFailed(
            gettext(
                "The server's response does not belong to this session, or was used before. "
                "Connect the credential again."
            )
        )
    session[PENDING] = kept
    session.save()
    return begun


def finish(
    source: CredentialSource, begun: Mapping[str, Any], answer: Mapping[str, str], actor: Actor
) -> None:
    """Exchange the code of the server's `answer`, and store the refresh token.

    Raises ConsentFailed, and the errors of `credentials.connect`.
    """
    if source.id != UUID(begun["id"]) or source.version != begun["version"]:
        raise ConsentFailed(
            gettext("The credential was changed during the consent. Connect it again.")
        )
    if answer.get("error") or not answer.get("code"):
        raise ConsentFailed(_declined(answer.get("error", "")))
    rules = rules_of(source.workspace_id)
    try:
        with ruled_by(lambda: rules):
            found = _exchanged(source.fields, begun, answer["code"])
    except StepError as error:
        raise ConsentFailed(
            gettext("The credential was not connected: {reason}").format(reason=error.message)
        ) from None
    host = urlsplit(source.fields["authorization_url"]).netloc
    connect(source, found, actor=actor, details={"server": host})


def _exchanged(fields: Mapping[str, str], begun: Mapping[str, Any], code: str) -> Issued:
    form = {
        "grant_type": oauth2.CODE_GRANT,
        "code": code,
        "redirect_uri": begun["redirect"],
        "code_verifier": begun["verifier"],
    }
    answer = oauth2.asked(fields, form)
    token = answer.text("refresh_token")
    if not token:
        raise StepError(
            "the server gave no refresh token. Some servers need the scope offline_access, or "
            "access_type=offline&prompt=consent in the credential's authorization_url"
        )
    return oauth2.issued(answer, {"refresh_token": token})


def _declined(code: str) -> str:
    # Omit the description, because anyone can make a link to this page.
    known = code[:60] if code.replace("_", "").isalnum() else ""
    if known == "access_denied":
        return gettext("The consent was declined at the server. Nothing was changed.")
    if not known:
        return gettext("The server sent neither a code nor an error. Connect the credential again.")
    return gettext(
        "The server did not grant access: {code}. Check the credential's client_id, scope and "
        "authorization_url, and the client's redirect URI at the server."
    ).format(code=known)


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")
