"""OAuth 2.0 access tokens (RFC 6749), requested with a refresh token or client credentials.

A server may replace the refresh token at each use. So only one process at a time uses a refresh
token, and the new token is stored sealed (`executions.credentials.rotating`).
"""

import base64
from collections.abc import Mapping
from urllib.parse import quote_plus

from executions.public.credentials import CredentialSource, Issued
from runners.public.modules import StepError
from valkyr_plugins.short_lived.fields import BASIC, POST, is_secure
from valkyr_plugins.short_lived.requests import IssuerAnswer, ask, limited

CODE_GRANT = "authorization_code"
KEPT_SECONDS = 300.0  # lifetime of a token without `expires_in`
ADVICE: Mapping[str, str] = {
    "invalid_grant": "The refresh token is revoked, expired, or was used elsewhere: connect "
    "the credential again, or set its refresh_token.",
    "invalid_client": "Check the credential's client_id, client_secret and client_auth.",
    "unauthorized_client": "The client may not use this grant: check its settings at the server.",
    "invalid_scope": "Check the credential's scope.",
}


def issue(source: CredentialSource, before: Issued | None) -> Issued:
    """Return a new access token as the field `token`. Raises StepError."""
    fields = source.fields
    if fields.get("authorization_url") and not fields.get("refresh_token"):
        raise StepError(
            f'the credential "{source.name}" is not connected: open its page in the admin and '
            "choose Connect"
        )
    answer = asked(fields, _form(fields))
    rotated = answer.text("refresh_token")
    is_new = bool(rotated) and rotated != fields.get("refresh_token") and "refresh_token" in fields
    return issued(answer, {"refresh_token": rotated} if is_new else {})


def asked(fields: Mapping[str, str], form: dict[str, str]) -> IssuerAnswer:
    """Send a grant to the token endpoint; return the answer with the token. Raises StepError."""
    url = fields["token_url"].strip()
    if not is_secure(url):
        raise StepError(f"{url[:200]} is not a token endpoint over https: change the credential")
    headers = dict[str, str]()
    secret = fields.get("client_secret", "")
    if secret and fields.get("client_auth", BASIC) != POST:
        # Each part is first encoded as a form value (RFC 6749, 2.3.1).
        pair = f"{quote_plus(fields['client_id'])}:{quote_plus(secret)}"
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form["client_id"] = fields["client_id"]
        if secret:
            form["client_secret"] = secret
    with limited():
        answer = ask("POST", url, headers=headers, form=form)
    if answer.status != 200 or not answer.text("access_token"):
        raise _refused(answer, form["grant_type"])
    return answer


def issued(answer: IssuerAnswer, store: Mapping[str, str]) -> Issued:
    """Return an answer's access token and lifetime; `store` holds credential fields to store."""
    seconds = answer.seconds("expires_in") or KEPT_SECONDS
    return Issued({"token": answer.text("access_token")}, seconds, store=store)


def _form(fields: Mapping[str, str]) -> dict[str, str]:
    if fields.get("refresh_token"):
        grant = {"grant_type": "refresh_token", "refresh_token": fields["refresh_token"]}
        return grant | wanted(fields)
    return {"grant_type": "client_credentials"} | wanted(fields)


def wanted(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters `scope` and `audience`, if the credential has them."""
    return {name: fields[name] for name in ("scope", "audience") if fields.get(name)}


def _refused(answer: IssuerAnswer, grant: str) -> StepError:
    code = answer.text("error")
    # Omit the description, because some servers quote the token in it.
    known = code if code.replace("_", "").isalnum() else ""
    advice = ADVICE.get(code, "Check the credential's token_url and the server's log.")
    if code == "invalid_grant" and grant == CODE_GRANT:
        advice = "The server's code was used or is too old: connect again."
    return answer.refused(known[:60], advice)
