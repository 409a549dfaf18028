"""Secrets of HashiCorp Vault (and OpenBao): read when a step needs them, and kept while leased.

A worker signs in with a token, AppRole or Kubernetes, and keeps the client token while it is valid.
If a lease ends soon, the next step renews the lease or, if Vault extends it too little, reads a new
secret. A secret without a lease is kept for at most five minutes.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from executions.public.credentials import CredentialSource, Issued
from runners.public.modules import StepError
from valkyr_plugins.short_lived.conf import settings
from valkyr_plugins.short_lived.fields import APPROLE, NEEDS, TOKEN, is_secure
from valkyr_plugins.short_lived.requests import IssuerAnswer, ask, limited

ALLOWED = "VALKYR_VAULT_KUBERNETES_ADDRESSES"
KEPT_SECONDS = 300.0  # lifetime of a secret without a lease, such as a secret of the KV engine
WORTH = 0.5  # minimum share of the lease that a renewal must add
FORBIDDEN, MISSING = 403, 404
RENEW = "sys/leases/renew"


@dataclass(frozen=True, slots=True, repr=False)
class VaultState:
    """The client token, when to replace it (`time.monotonic()`), and the secret's lease."""

    token: str
    ends: float
    lease_id: str
    lease_seconds: float


def issue(source: CredentialSource, before: Issued | None) -> Issued:
    """Return the values of the secret at the credential's path. Raises StepError."""
    state = before.state if before is not None else None
    with limited():
        if before is not None and isinstance(state, VaultState):
            renewed = _renewed(source.fields, before, state)
            if renewed is not None:
                return renewed
        return _read(source.fields, state if isinstance(state, VaultState) else None)


def _renewed(fields: Mapping[str, str], before: Issued, state: VaultState) -> Issued | None:
    """Return the same values with a longer lease; None if the lease cannot be extended enough."""
    if not state.lease_id or time.monotonic() >= state.ends:
        return None
    body = {"lease_id": state.lease_id, "increment": int(state.lease_seconds)}
    answer = _ask("PUT", fields, RENEW, state.token, data=body)
    seconds = answer.seconds("lease_duration")
    if answer.status != 200 or seconds < WORTH * state.lease_seconds:
        return None
    return Issued(before.fields, min(seconds, state.ends - time.monotonic()), state)


def _read(fields: Mapping[str, str], state: VaultState | None) -> Issued:
    known = state is not None and time.monotonic() < state.ends
    token, ends = (state.token, state.ends) if state and known else _signed_in(fields)
    path = fields["path"].strip().strip("/").removeprefix("v1/")
    answer = _ask("GET", fields, path, token)
    if answer.status == FORBIDDEN and known:
        # The client token was revoked before it expired.
        token, ends = _signed_in(fields)
        answer = _ask("GET", fields, path, token)
    if answer.status != 200:
        raise answer.refused(_errors(answer), _advice(answer.status, path))
    values = _values(answer, path)
    seconds = answer.seconds("lease_duration")
    lease_id = answer.text("lease_id") if answer.body.get("renewable") is True else ""
    dynamic = bool(answer.text("lease_id"))
    # A lease ends with the token with which it was read, unless that token does not expire.
    left = ends - time.monotonic()
    kept = min(seconds if dynamic and seconds else KEPT_SECONDS, left)
    url = fields.get("url")
    if url:
        values["url"] = filled(url, values)
    return Issued(values, kept, VaultState(token, ends, lease_id, seconds))


def _signed_in(fields: Mapping[str, str]) -> tuple[str, float]:
    """Return a client token, and until when to use it (`time.monotonic()`). Raises StepError."""
    auth = fields.get("auth")
    if auth == TOKEN:
        return fields["token"], float("inf")
    mount = fields.get("mount", "").strip("/") or str(auth)
    body: dict[str, str]
    if auth == APPROLE:
        body = {"role_id": fields["role_id"], "secret_id": fields["secret_id"]}
    else:
        body = {"role": fields["role"], "jwt": _service_account(fields["address"])}
    answer = _ask("POST", fields, f"auth/{mount}/login", "", data=body)
    found = answer.body.get("auth")
    given: dict[str, Any] = found if isinstance(found, dict) else {}
    token = given.get("client_token")
    if answer.status != 200 or not isinstance(token, str) or not token:
        raise answer.refused(
            _errors(answer),
            f"Vault did not accept the sign-in by {auth}: check the credential's fields "
            f"{', '.join((*NEEDS[str(auth)], 'mount'))}.",
        )
    seconds = IssuerAnswer(200, given, answer.request).seconds("lease_duration")
    # Replace the token a little before it expires. 0 means that it does not expire.
    return token, time.monotonic() + seconds * 0.9 if seconds else float("inf")


def _service_account(address: str) -> str:
    """Return the token of this process's service account, for a server that may receive it.

    Raises StepError for any other server, or if the token cannot be read.
    """
    allowed = [entry.rstrip("/").lower() for entry in settings().vault_kubernetes_addresses]
    if address.strip().rstrip("/").lower() not in allowed:
        raise StepError(
            f"the worker's Kubernetes token may not go to {address[:200]}: ask an operator to add "
            f"this address to {ALLOWED}"
        )
    file = settings().vault_kubernetes_token_file
    try:
        return Path(file).read_text().strip()
    except OSError as error:
        raise StepError(
            f"the worker's Kubernetes token {file} cannot be read ({error.strerror}): run the "
            "worker in a pod with a service account, or set VALKYR_VAULT_KUBERNETES_TOKEN_FILE"
        ) from None


def _ask(
    method: str,
    fields: Mapping[str, str],
    path: str,
    token: str,
    data: Mapping[str, Any] | None = None,
) -> IssuerAnswer:
    address = fields["address"].strip().rstrip("/")
    if not is_secure(address):
        raise StepError(
            f"{address[:200]} is not an address of Vault over https: change the credential"
        )
    headers = {"x-vault-request": "true"}
    if token:
        headers["x-vault-token"] = token
    if fields.get("namespace"):
        headers["x-vault-namespace"] = fields["namespace"]
    url = "/".join((address, "v1", quote(path, safe="/")))
    return ask(method, url, headers=headers, data=data)


def _values(answer: IssuerAnswer, path: str) -> dict[str, str]:
    """Return a secret's fields: strings unchanged, other values as JSON, and nulls omitted.

    Version 2 of the KV engine nests the fields one level deeper. Raises StepError if no field is
    left.
    """
    data = answer.body.get("data")
    inner = data.get("data") if isinstance(data, dict) else None
    found = inner if isinstance(inner, dict) and "metadata" in (data or {}) else data
    values = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in (found.items() if isinstance(found, dict) else ())
        if value is not None
    }
    if not values:
        raise StepError(
            f"Vault has no fields at {path}: check the credential's field path (for version 2 of "
            "the KV engine it has /data/ after the mount)"
        )
    return values


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return a URL with each `{name}` replaced by a percent-encoded value. Raises StepError."""
    parts = []
    for index, piece in enumerate(template.split("{")):
        name, closed, rest = piece.partition("}")
        if index == 0:
            parts.append(piece)
        elif not closed or name not in values:
            names = ", ".join(sorted(values))
            raise StepError(
                f"the credential's url names {{{name[:80]}}}, but Vault's secret has only {names}"
            )
        else:
            parts += [quote(values[name], safe=""), rest]
    return "".join(parts)


def _errors(answer: IssuerAnswer) -> str:
    """Return Vault's own error texts, which hold no secret."""
    found = answer.body.get("errors")
    texts = found if isinstance(found, list) else []
    return "; ".join(text.strip() for text in texts if isinstance(text, str))


def _advice(status: int, path: str) -> str:
    if status == FORBIDDEN:
        return f"Vault's policy does not let this credential read {path[:200]}: change the policy."
    if status == MISSING:
        return f"There is nothing at {path[:200]}: check the credential's field path."
    return "Check the credential's fields address and path."
