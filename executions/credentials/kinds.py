"""The types of credentials: their fields, values, default boundaries and errors."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from executions.credentials.boundary import ANY, plain_host
from executions.credentials.issuing import Issuer
from executions.definition.graph.problem import DefinitionProblem
from executions.errors import ValkyrError, WithProblems

# Errors of writing a credential. No message contains a value.


class InvalidCredential(WithProblems):
    """The credential cannot be stored in this form."""

    code = "invalid_credential"


class NameTaken(ValkyrError):
    """Another credential of the workspace has this name; choose another."""

    code = "name_taken"


class CredentialInUse(WithProblems):
    """Published workflows name the credential."""

    code = "credential_in_use"


NAME = re.compile(r"[a-z][a-z0-9_]*")
MAX_NAME = 80
# Minimum characters of a secret value: shorter values occur in ordinary words, so they could not be
# removed from texts.
SHORTEST = 6
LONGEST = 64 * 1024
MOST_FIELDS = 50


@dataclass(frozen=True, slots=True)
class CredentialType:
    """A type of credential; without `fields`, it accepts one or more fields of any name.

    `known` are fields that are not secrets, such as a user name, and may therefore be short.
    `hosts` and `modules` are its suggested boundary; if `address` names a field with a URL, that
    URL's host is suggested.

    `optional` fields may be left out. `check` yields further problems with the fields. With an
    `issuer`, steps receive the short-lived values that the issuer returns, not the fields.
    `rotates` says whether issuing values replaces a secret in the fields: then only one process at
    a time may request values. `connected`, given the names of the fields, says whether a person has
    connected the credential at the provider; None for a credential that needs no person.
    """

    name: str
    title: str
    fields: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    hosts: tuple[str, ...] = ()
    modules: tuple[str, ...] = (ANY,)
    address: str = ""
    optional: tuple[str, ...] = ()
    check: Callable[[Mapping[str, Any]], Iterator[DefinitionProblem]] | None = None
    issuer: Issuer | None = None
    rotates: Callable[[Mapping[str, str]], bool] | None = None
    connected: Callable[[Collection[str]], bool | None] | None = None


KINDS: dict[str, CredentialType] = {}


def register(kind: CredentialType) -> CredentialType:
    """Add and return a type, at import. Raises ValueError if another type has the name."""
    if KINDS.setdefault(kind.name, kind) != kind:
        raise ValueError(f"The credential type {kind.name!r} already exists.")
    return kind


register(CredentialType("secret", "a single secret", ("value",)))
register(
    CredentialType(
        "basic",
        "a user name and a password",
        ("username", "password"),
        known=frozenset({"username"}),
    )
)
register(CredentialType("bearer", "a bearer token", ("token",)))
register(
    CredentialType(
        "smtp",
        "a mail server: smtp://user:password@host:587",
        ("url",),
        modules=("email.send",),
        address="url",
    )
)
register(
    CredentialType(
        "database",
        "a database: postgresql://user:password@host:5432/name",
        ("url",),
        modules=("sql.*",),
        address="url",
    )
)
register(
    CredentialType(
        "s3",
        "an S3 access key",
        ("access_key", "secret_key"),
        hosts=("*.amazonaws.com",),
        modules=("file.*", "archive.*"),
    )
)
register(
    CredentialType(
        "stripe",
        "a Stripe secret key",
        ("api_key",),
        hosts=("api.stripe.com",),
        modules=("stripe.*",),
    )
)
register(
    CredentialType(
        "slack",
        "a Slack incoming webhook",
        ("webhook_url",),
        modules=("slack.post",),
        address="webhook_url",
    )
)
register(
    CredentialType(
        "signing", "a secret that signs webhooks", ("secret",), modules=("webhook.post",)
    )
)
register(
    CredentialType(
        "broker",
        "a message broker: amqp://user:password@host:5672/",
        ("url",),
        modules=("queue.publish",),
        address="url",
    )
)
register(CredentialType("custom", "fields of your own"))


def checked(
    kind: str, name: str, fields: Mapping[str, Any], more: Iterable[DefinitionProblem] = ()
) -> dict[str, str]:
    """Return the fields of a new credential. Raises InvalidCredential with all problems found.

    `more` are problems found elsewhere; the type's own check runs only if there are no others.
    """
    found = [*_of_name(name), *_of_kind(kind), *_of_fields(kind, fields), *more]
    _refuse(found or list(checked_whole(kind, fields)))
    return {key: str(value) for key, value in fields.items()}


def checked_changes(
    kind: str,
    kept: Iterable[str],
    fields: Mapping[str, Any],
    more: Iterable[DefinitionProblem] = (),
) -> dict[str, str]:
    """Return the changed fields, except those to remove (None).

    `kept` are the names of the current fields, and `more` are problems found elsewhere. Raises
    InvalidCredential with every problem.
    """
    set_ = {key: value for key, value in fields.items() if value is not None}
    remaining = (set(kept) - set(fields)) | set(set_)
    problems = list(_of_values(kind, set_)) if fields else []
    problems += _of_names(kind, remaining) if fields else []
    problems += [
        DefinitionProblem(f"fields.{key}", "unknown_field", "The credential has no such field.")
        for key in sorted(set(fields) - set(set_) - set(kept))
    ]
    _refuse([*problems, *more])
    return {key: str(value) for key, value in set_.items()}


def checked_whole(kind: str, fields: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    """Yield the problems that the type's own check finds in the fields."""
    check = KINDS[kind].check if kind in KINDS else None
    if check is not None:
        yield from check(fields)


def refuse_whole(kind: str, fields: Mapping[str, Any]) -> None:
    """Raise InvalidCredential if the type's own check finds problems in the fields."""
    _refuse(list(checked_whole(kind, fields)))


def _refuse(problems: list[DefinitionProblem]) -> None:
    if problems:
        many = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise InvalidCredential(f"The credential has {many} and was not stored.", problems)


def _of_name(name: str) -> Iterator[DefinitionProblem]:
    if not NAME.fullmatch(name) or len(name) > MAX_NAME:
        yield DefinitionProblem("name", "bad_name", _naming("A name", name))


def _of_kind(kind: str) -> Iterator[DefinitionProblem]:
    if kind not in KINDS:
        known = ", ".join(sorted(KINDS))
        yield DefinitionProblem(
            "type",
            "unknown_type",
            f"{kind[:40]!r} is not a type of credential; known types: {known}.",
        )


def _of_fields(kind: str, fields: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    yield from _of_names(kind, set(fields))
    yield from _of_values(kind, fields)


def _of_names(kind: str, names: set[str]) -> Iterator[DefinitionProblem]:
    if kind not in KINDS:
        return
    wanted = set(KINDS[kind].fields)
    allowed = wanted | set(KINDS[kind].optional)
    for name in sorted(wanted - names):
        yield DefinitionProblem(
            f"fields.{name}", "required", f"A credential of type {kind} needs this field."
        )
    if wanted:
        for name in sorted(names - allowed)[:MOST_FIELDS]:
            have = " and ".join((*KINDS[kind].fields, *KINDS[kind].optional))
            yield DefinitionProblem(
                f"fields.{name[:MAX_NAME]}",
                "unknown_field",
                f"A credential of type {kind} has only {have}; the type custom takes any fields.",
            )
    elif not 1 <= len(names) <= MOST_FIELDS:
        found = len(names)
        yield DefinitionProblem(
            "fields", "count", f"Expected 1 to {MOST_FIELDS} fields; found {found}."
        )


def _of_values(kind: str, fields: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    for name, value in list(fields.items())[: MOST_FIELDS + 1]:
        path = f"fields.{name[:MAX_NAME]}"
        if not NAME.fullmatch(name) or len(name) > MAX_NAME:
            yield DefinitionProblem(path, "bad_name", _naming("A field's name", name))
        if not isinstance(value, str):
            yield DefinitionProblem(path, "not_text", f"Expected text; found {_kind_of(value)}.")
        elif len(value) < (least := _shortest(kind, name)):
            yield DefinitionProblem(
                path,
                "too_short",
                f"Expected at least {least} characters; found {len(value)}. Shorter values "
                "cannot be removed from logs and responses.",
            )
        elif len(value) > LONGEST:
            yield DefinitionProblem(
                path, "too_long", f"Expected at most {LONGEST:,} characters; found {len(value):,}."
            )


def _shortest(kind: str, name: str) -> int:
    return 1 if kind in KINDS and name in KINDS[kind].known else SHORTEST


def _naming(what: str, name: str) -> str:
    return (
        f"{what} must begin with a lower-case letter, followed by lower-case letters, digits "
        f"and _, at most {MAX_NAME} characters; found {name[:40]!r}."
    )


def _kind_of(value: Any) -> str:
    """Return the JSON type of a value other than text, for messages that must not contain it."""
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", list: "a list"}
    return names.get(type(value), "an object")


# The default boundary of a new credential, by its type. No I/O.


# Prefixes of tokens that identify the issuer, and the issuer's hosts.
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
    """Return the hosts that follow from a type's service, URL field or token; () if none do."""
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
    """Return the modules to suggest for a type of credential; by default, all modules."""
    return KINDS[kind].modules if kind in KINDS else (ANY,)


def _host_of(address: str) -> tuple[str, ...]:
    try:
        host = plain_host(unquote(urlsplit(address.strip()).hostname or ""))
    except ValueError:
        return ()
    return (host,)
