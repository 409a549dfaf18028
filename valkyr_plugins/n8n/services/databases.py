"""Services that store rows: Supabase, NocoDB and Baserow."""

from typing import Any

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.services.calls import Service, ServiceCall, always
from valkyr_plugins.n8n.services.tables import SITE, by_id, columns
from valkyr_plugins.n8n.services.values import limit, missing

_REST = f"{SITE}/rest/v1/{{tableId}}"
_BACK = {"Prefer": "return=representation"}
_SIGNS = ("eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "is")


def _rows(work: NodeWork) -> Any:
    """Return the conditions as PostgREST parameters, with a row limit for `getAll`."""
    found: dict[str, Any] = {}
    if work.word("operation") == "getAll":
        found["limit"] = limit(50)(work)
    rows = work.names("filters.conditions")
    if work.get("filterString") or work.word("filterType") == "string":
        work.remark("Its filter is a text: give each condition as a parameter of its own.")
        found["or"] = missing(work, "the filter")
    if work.word("matchType") == "anyFilter" and len(rows) > 1:
        work.remark("A row that fits any of the filters is taken: write `or=(…)`.")
        found["or"] = missing(work, "the filters")
        return found
    for row in rows:
        name, sign = str(row.get("keyName", "")), str(row.get("condition", "eq"))
        if name and "{{" not in name:
            value = work.text(row.get("keyValue", ""))
            known = sign if sign in _SIGNS else missing(work, sign)
            found[work.texts.key(name)] = f"{known}.{value}"
    if work.word("operation") in ("delete", "update") and not rows and "or" not in found:
        found["id"] = missing(work, "which rows")
    return found


_FIELDS = columns("fieldsUi.fieldValues")
SUPABASE = Service(
    "Supabase",
    "https://supabase.com/docs/guides/api",
    {
        "row: create": ServiceCall("POST", _REST, json=_FIELDS, headers=_BACK, items="."),
        "row: get": ServiceCall("GET", _REST, _rows, items="."),
        "row: getAll": ServiceCall("GET", _REST, _rows, items="."),
        "row: update": ServiceCall("PATCH", _REST, _rows, json=_FIELDS, headers=_BACK, items="."),
        "row: delete": ServiceCall("DELETE", _REST, _rows, headers=_BACK, items="."),
    },
    always("row"),
    {"row": "create"},
    "the service key; the variable is the project's address",
    "secret",
    {"apikey": "{secret}", "Authorization": "Bearer {secret}"},
)  # fmt: skip

_NOCO = f"{SITE}/api/v2/tables/{{table}}/records"


def _with_id(key: str, name: str) -> Any:
    def made(work: NodeWork) -> Any:
        row = columns("fieldsUi.fieldValues")(work)
        return row | {name: by_id(key, "rowId")(work)} if isinstance(row, dict) else row

    return made


NOCODB = Service(
    "NocoDB",
    "https://nocodb.com/apis/v2/data",
    {
        "row: create": ServiceCall("POST", _NOCO, json=_FIELDS),
        "row: get": ServiceCall("GET", f"{_NOCO}/{{id|rowId}}"),
        "row: getAll": ServiceCall(
            "GET", _NOCO, {"limit": limit(50), "where": "$options.where?"}, items="list"
        ),
        "row: update": ServiceCall("PATCH", _NOCO, json=_with_id("id", "Id")),
        "row: delete": ServiceCall("DELETE", _NOCO, json={"Id": "$id|primaryKey|rowId"}),
    },
    always("row"),
    {"row": "get"},
    "an API token; the variable is the server's address",
    "secret",
    {"xc-token": "{secret}"},
)  # fmt: skip

_BASEROW = f"{SITE}/api/database/rows/table/{{tableId}}"
_NUMBERED = "Fields are named field_<number> as in n8n, unless user_field_names=true is added."


def _fields(work: NodeWork) -> Any:
    row = columns("fieldsUi.fieldValues")(work)
    if not isinstance(row, dict):
        return row
    return {f"field_{name}" if name.isdigit() else name: value for name, value in row.items()}


BASEROW = Service(
    "Baserow",
    "https://api.baserow.io/api/redoc",
    {
        "row: create": ServiceCall("POST", f"{_BASEROW}/", json=_fields, remark=_NUMBERED),
        "row: get": ServiceCall("GET", f"{_BASEROW}/{{rowId}}/"),
        "row: getAll": ServiceCall(
            "GET", f"{_BASEROW}/",
            {"size": limit(100), "search": "$additionalOptions.search?", "user_field_names": True},
            items="results",
        ),
        "row: update": ServiceCall(
            "PATCH", f"{_BASEROW}/{{rowId}}/", json=_fields, remark=_NUMBERED
        ),
        "row: delete": ServiceCall("DELETE", f"{_BASEROW}/{{rowId}}/"),
    },
    always("row"),
    {"row": "getAll"},
    "a database token; the variable is https://api.baserow.io or your server",
    "secret",
    {"Authorization": "Token {secret}"},
)  # fmt: skip
