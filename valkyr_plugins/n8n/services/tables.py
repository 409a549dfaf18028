"""Parts of the tables: the calls that most resources have, and bodies made from parameters."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.services.calls import ServiceCall
from valkyr_plugins.n8n.services.values import OMIT, filled, given, limit, missing

PLACES = ("additionalFields", "updateFields", "otherProperties", "fields")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAMED = ("fieldId", "fieldName", "name", "property", "column", "key")
_VALUED = ("fieldValue", "value")
SITE = "{site}"  # a URL that n8n keeps in the credential; here, a variable of the workflow


def snake(name: str) -> str:
    """Return a camel-case name in lower-case letters and underscores."""
    return _CAMEL.sub("_", name).lower()


def sent(
    *own: str,
    places: tuple[str, ...] = PLACES,
    rename: Mapping[str, str] | None = None,
    snaked: bool = False,
    under: str = "",
) -> Any:
    """Return the function that makes a body from parameters.

    `own` are names of parameters, written "name?" if the parameter may be missing; `places` are
    collections of further parameters. `rename` maps parameters to the API's names, and "" omits a
    further parameter. With `under`, the body has only this key, with the fields in an object.
    """
    names = rename or {}

    def called(name: str) -> str:
        return names.get(name, snake(name) if snaked else name)

    def made(work: NodeWork) -> Any:
        found: dict[str, Any] = {}
        for name in own:
            value = filled(work, f"${name}")
            if value is not OMIT:
                found[called(name.removesuffix("?"))] = value
        for name, raw in _more(work, places):
            if called(name):
                found[called(work.texts.key(name))] = work.value(raw, name)
        if not found:
            return missing(work, "the fields")
        return {under: found} if under else found

    vars(made)["reads"] = own  # lets tests check the table
    return made


def _more(work: NodeWork, places: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the non-empty fields of collections, except fields in a form that only n8n uses."""
    for place in places:
        more = work.get(place)
        for name, raw in more.items() if isinstance(more, dict) else ():
            if _is_form(raw):
                work.remark(f"{name} was left out: write it in the API's form.")
            elif raw not in (None, ""):
                yield name, raw


def _is_form(raw: Any) -> bool:
    """Return whether a value is an object that contains lists or objects, as n8n's form does."""
    held = list(raw.values()) if isinstance(raw, dict) else []
    return bool(held) and "__rl" not in raw and any(isinstance(one, (list, dict)) for one in held)


def columns(*keys: str) -> Any:
    """Return the function that makes a row from a list of fields, or from the whole item."""

    def made(work: NodeWork) -> Any:
        for key in keys:
            rows = work.names(key)
            if rows:
                return dict(_pair(work, row) for row in rows if _name(row))
        mapped = work.get("columns.value")
        if isinstance(mapped, dict) and mapped:
            return {work.texts.key(name): work.value(raw, name) for name, raw in mapped.items()}
        whole = work.shape.whole
        if whole is not None and "autoMap" in str(
            work.get("dataToSend", work.get("columns.mappingMode", ""))
        ):
            work.remark("It sent all of the item's fields: see whether each is a column.")
            return "{{ " + whole + " }}"
        return missing(work, "the fields")

    return made


def _name(row: dict[str, Any]) -> str:
    return next((str(row[key]) for key in _NAMED if row.get(key)), "")


def _pair(work: NodeWork, row: dict[str, Any]) -> tuple[str, Any]:
    raw = next((row[key] for key in _VALUED if key in row), "")
    return work.texts.key(_name(row)), work.value(raw, _name(row))


def first(*names: str) -> Any:
    """Return the function that makes a value from the first parameter of `names` that is given."""
    return lambda work: filled(work, "$" + "|".join(names))


def among(default: str, *keys: str) -> Any:
    """Return the function that returns the first parameter that is a string, or `default`."""
    return lambda work: next((word for key in keys if (word := work.word(key))), default)


def crud(  # noqa: PLR0913 - a row of the table, with its parts by name
    one: str,
    url: str,
    key: str,
    create: Any = None,
    update: Any = None,
    *,
    change: str = "PUT",
    search: Mapping[str, Any] | None = None,
    query: Mapping[str, Any] | None = None,
    page: str = "limit",
    items: str = "",
    result: str = "",
    ending: str = "",
) -> dict[str, ServiceCall]:
    """Return the calls to get, list and delete objects; with bodies, to create and change them."""
    single = f"{url}/{{{key}}}{ending}"
    asked = dict(query or {})
    found = {
        f"{one}: get": ServiceCall("GET", single, asked, result=result),
        f"{one}: delete": ServiceCall("DELETE", single, asked),
        f"{one}: getAll": ServiceCall(
            "GET", f"{url}{ending}", {page: limit(100), **asked, **(search or {})},
            items=items or ".",
        ),
    }  # fmt: skip
    if create is not None:
        found[f"{one}: create"] = ServiceCall(
            "POST", f"{url}{ending}", asked, json=create, result=result
        )
    if update is not None:
        found[f"{one}: update"] = ServiceCall(change, single, asked, json=update, result=result)
    return found


def by_id(*names: str) -> Any:
    """Return the function that makes a required value, such as an ID, from one of `names`."""
    return lambda work: (
        missing(work, names[0]) if (raw := given(work, "|".join(names))) is None
        else work.value(raw)
    )  # fmt: skip
