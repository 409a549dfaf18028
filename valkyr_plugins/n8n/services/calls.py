"""Rows of the services' table: requests to a service's API for the operations of a node."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.shape import Keys

Part = Callable[[NodeWork], str]


@dataclass(frozen=True, slots=True)
class ServiceCall:
    """One request, which can contain the node's parameters.

    `{a.b}` in the address is a quoted parameter; `parts` makes the values of other placeholders.
    `{site}` is an address that n8n keeps in the credential; here it is a variable. In `query`,
    `json` and `form`, "$a|b" is the first given parameter of a and b, "$a?" is omitted if the
    parameter is missing, and a function returns the value.

    `first` is a request whose task runs earlier; `work.earlier` is its ID.

    `items` is the key of the response's list, and `result` the key of its object. `each` and
    `within` say where n8n's fields are in the items or the object, as in a Shape.
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

    `resource` and `operations` are the defaults for a node that names none. `sign` is the
    authentication of requests. `bearer` and `basic` use a credential, "" sends none, and `secret`
    puts `{secret}` into the address or a header.
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
