"""The boundary that a new credential gets where its creator names none: by its type. Pure."""

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from executions.credentials.boundary import ANY, plain_host
from executions.credentials.kinds import KINDS, CredentialType

# Tokens that say by their beginning whose they are.
TOKENS: Mapping[str, tuple[str, ...]] = {
    "sk-ant-": ("api.anthropic.com",),
    "sk-proj-": ("api.openai.com",),
    "sk-svcacct-": ("api.openai.com",),
    "sk-or-": ("openrouter.ai",),
    "xoxb-": ("slack.com",),
    "ghp_": ("api.github.com",),
    "github_pat_": ("api.github.com",),
    "glpat-": ("gitlab.com",),
}


def suggested_hosts(kind: str, fields: Mapping[str, str]) -> tuple[str, ...]:
    """The hosts of a type's service, of its URL or of its token; () where nothing tells."""
    known = KINDS.get(kind, CredentialType(kind, kind))
    if known.hosts:
        return known.hosts
    if known.address:
        return _host_of(fields.get(known.address, ""))
    if kind == "bearer":
        token = fields.get("token", "")
        return next((hosts for start, hosts in TOKENS.items() if token.startswith(start)), ())
    return ()


def suggested_modules(kind: str) -> tuple[str, ...]:
    """The modules that take a type of credential; any where it is of general use."""
    return KINDS[kind].modules if kind in KINDS else (ANY,)


def _host_of(address: str) -> tuple[str, ...]:
    try:
        host = plain_host(unquote(urlsplit(address.strip()).hostname or ""))
    except ValueError:
        return ()
    return (host,)
