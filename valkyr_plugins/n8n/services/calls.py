"""Rows of the services' table: requests to a service's API for the operations of a node."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.shape import Keys

Part = Callable[[NodeWork], str]


@dataclass(frozen=True, slots=True)
class ServiceCall:
    """One request, with placeholders for the node's parameters.

    In the address, `{a.b}` stands for the URL-encoded parameter `a.b`, and `{site}` for a variable
    with the address that n8n keeps in the credential. `parts` maps other placeholders to functions
    that return their values. In `query`, `json` and `form`, "$a|b" stands for parameter a, or b if
    a is missing; "$a?" is omitted if a is missing; a function returns the value.

    `first` is a request that a task sends before this one; `work.earlier` is that task's ID.
    `items` is the key of the list in the response; `result` is the key of the object in the
    response. `each` and `within` say where n8n's fields are in the items or the object, as in a
    Shape.
    """

    method: str
    url: str
    query: Mapping[str, Any] | Callable[[NodeWork], Any] = field(default_factory=dict)
    json: Any = None
    form: Any = None
    body: Part | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, Part] = field(default_factory=dict)
    items: str = ""
    result: str = ""
    each: Mapping[Keys, Keys] = field(default_factory=dict)
    within: Keys | None = ()
    remark: str = ""
    first: "ServiceCall | None" = None


@dataclass(frozen=True, slots=True)
class Service:
    """A service's API, and its calls, keyed by n8n's "resource: operation".

    `resource` returns a node's default resource, and `operations` maps resources to their default
    operations. `sign` is how requests are authenticated: "bearer" or "basic" by a credential,
    "secret" by a secret in place of `{secret}` in the address or a header, "" not at all.
    """

    name: str
    docs: str
    calls: Mapping[str, ServiceCall]
    resource: Callable[[NodeWork], str]
    operations: Mapping[str, str]
    scope: str = ""
    sign: str = "bearer"
    headers: Mapping[str, str] = field(default_factory=dict)


def always(resource: str) -> Callable[[NodeWork], str]:
    """Return a function that returns the same default resource for every node."""
    return lambda work: resource
