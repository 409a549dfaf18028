"""Temporary keys of AWS's Security Token Service (STS), for a role.

botocore signs requests that use keys (Signature Version 4), and parses the responses. The guarded
client of HTTP steps sends all requests, so egress rules and time limits apply. A worker's own web
identity (EKS) is sent only to AWS or VALKYR_AWS_STS_ENDPOINT, for roles that operators allow.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from executions.public.credentials import CredentialSource, Issued
from runners.public.modules import ErrorType, StepError
from valkyr_plugins.short_lived.conf import settings
from valkyr_plugins.short_lived.fields import SECONDS, WEB_IDENTITY, is_secure
from valkyr_plugins.short_lived.requests import IssuerAnswer, ask, limited

ALLOWED = "VALKYR_AWS_WEB_IDENTITY_ROLES"
VERSION = "2011-06-15"  # version of STS's API
REGION = "us-east-1"
PASSING = {"Throttling", "ThrottlingException", "RequestLimitExceeded", "IDPCommunicationError"}
ADVICE: Mapping[str, str] = {
    "AccessDenied": "The role's trust policy does not let this identity assume it: change the "
    "policy, or the credential's role_arn or external_id.",
    "InvalidClientTokenId": "Check the credential's access_key.",
    "SignatureDoesNotMatch": "Check the credential's secret_key, and the worker's clock.",
    "ValidationError": "Check the credential's role_arn, duration_seconds and session_name.",
    "RegionDisabledException": "Activate STS in this region, or change the credential's region.",
    "ExpiredTokenException": "The worker's token is expired: check that its file is renewed.",
    "InvalidIdentityToken": "Register the cluster's OpenID Connect provider in the AWS account.",
}
_NAME = re.compile(r"[^\w+=,.@-]", re.ASCII)


def issue(source: CredentialSource, before: Issued | None) -> Issued:
    """Return the role's access_key, secret_key and session_token. Raises StepError."""
    _require_botocore()
    fields = source.fields
    seconds = int(fields.get("duration_seconds") or SECONDS)
    form = {
        "Version": VERSION,
        "RoleArn": fields["role_arn"].strip(),
        "RoleSessionName": fields.get("session_name") or _session_name(source.name),
        "DurationSeconds": str(seconds),
    }
    with limited():
        if fields.get("auth") == WEB_IDENTITY:
            answer, found = _by_web_identity(fields, form)
        else:
            answer, found = _by_keys(fields, form)
    return _issued(answer, found, seconds)


def _by_keys(fields: Mapping[str, str], form: dict[str, str]) -> tuple[IssuerAnswer, Any]:
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    form["Action"] = "AssumeRole"
    if fields.get("external_id"):
        form["ExternalId"] = fields["external_id"]
    region = fields.get("region") or REGION
    url = _endpoint(fields.get("endpoint") or settings().aws_sts_endpoint, region)
    request = AWSRequest("POST", url, headers=_headers(), data=urlencode(form))
    keys = Credentials(fields["access_key"], fields["secret_key"])
    SigV4Auth(keys, "sts", region).add_auth(request)
    return _asked(url, dict(request.headers.items()), form)


def _by_web_identity(fields: Mapping[str, str], form: dict[str, str]) -> tuple[IssuerAnswer, Any]:
    role = form["RoleArn"]
    if role not in settings().aws_web_identity_roles:
        raise StepError(
            f"the worker's web identity may not assume {role[:200]}: ask an operator to add this "
            f"role to {ALLOWED}"
        )
    form |= {"Action": "AssumeRoleWithWebIdentity", "WebIdentityToken": _web_identity()}
    url = _endpoint(settings().aws_sts_endpoint, fields.get("region") or REGION)
    return _asked(url, _headers(), form)


def _web_identity() -> str:
    file = settings().aws_web_identity_token_file
    try:
        return Path(file).read_text().strip()
    except OSError as error:
        raise StepError(
            f"the worker's web identity {file} cannot be read ({error.strerror}): run the worker "
            "in a pod with a service account that has a role, or set "
            "VALKYR_AWS_WEB_IDENTITY_TOKEN_FILE"
        ) from None


def _asked(
    url: str, headers: Mapping[str, str], form: Mapping[str, str]
) -> tuple[IssuerAnswer, Any]:
    """Send the form; return the response, and its content parsed by botocore ({} if that fails)."""
    answer = ask("POST", url, headers=headers, content=urlencode(form).encode())
    parser, shapes = _protocol()
    raw = {"status_code": answer.status, "headers": {}, "body": answer.raw}
    try:
        found = parser.parse(raw, shapes[form["Action"]])
    except Exception:
        # botocore raises many types of errors for a body that is not XML of STS.
        found = {}
    return answer, found


def _issued(answer: IssuerAnswer, found: Any, seconds: int) -> Issued:
    keys = found.get("Credentials") or {}
    names = {
        "access_key": keys.get("AccessKeyId"),
        "secret_key": keys.get("SecretAccessKey"),
        "session_token": keys.get("SessionToken"),
    }
    values = {name: text for name, text in names.items() if isinstance(text, str) and text}
    if answer.status != 200 or len(values) < len(names):
        raise _refused(answer, found.get("Error") or {})
    ends = keys.get("Expiration")
    # Use the expiry time by this machine's clock, unless that clock differs greatly from AWS's.
    left = (ends - datetime.now(UTC)).total_seconds() if isinstance(ends, datetime) else seconds
    return Issued(values, min(left, seconds) if left > 0 else seconds)


def _refused(answer: IssuerAnswer, error: Mapping[str, Any]) -> StepError:
    code, said = str(error.get("Code", "")), str(error.get("Message", ""))
    advice = ADVICE.get(code, "Check the credential's region and endpoint.")
    refusal = answer.refused(": ".join(text for text in (code, said) if text), advice)
    if code in PASSING:
        refusal.error_type = ErrorType.TRANSIENT
    return refusal


def _endpoint(given: str, region: str) -> str:
    """Return the address of STS. Raises StepError if secrets may not go to this address."""
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    url = given.strip().rstrip("/") or f"https://sts.{region}.{suffix}"
    if not is_secure(url):
        raise StepError(f"{url[:200]} is not an address of STS over https: change the endpoint")
    return f"{url}/"


def _headers() -> dict[str, str]:
    return {
        "accept": "text/xml",
        "content-type": "application/x-www-form-urlencoded; charset=utf-8",
    }


def _session_name(name: str) -> str:
    """Return the session's name in AWS's logs: the credential's name, prefixed and shortened."""
    return _NAME.sub("-", f"valkyr-{name}")[:64]


@lru_cache(maxsize=1)
def _protocol() -> tuple[Any, Mapping[str, Any]]:
    """Return the parser of STS's responses, and the shapes of the two operations' responses."""
    import botocore.session
    from botocore.parsers import create_parser

    service = botocore.session.get_session().get_service_model("sts")
    names = ("AssumeRole", "AssumeRoleWithWebIdentity")
    shapes = {name: service.operation_model(name).output_shape for name in names}
    return create_parser(service.metadata["protocol"]), shapes


def _require_botocore() -> None:
    try:
        import botocore.session  # noqa: F401
    except ImportError:
        raise StepError(
            "a credential of type aws_sts needs the package botocore: "
            "run pip install 'valkyr[s3]' for the workers"
        ) from None
