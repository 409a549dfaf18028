"""Services that store records: Airtable and Notion."""

import re
from typing import Any

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.secrecy import without_secrets
from valkyr_plugins.n8n.services.calls import Service, ServiceCall, always
from valkyr_plugins.n8n.services.values import (
    OMIT,
    given,
    limit,
    missing,
    segment,
)
from valkyr_plugins.n8n.shape import Keys


def _fields(work: NodeWork) -> Any:
    """Return the fields of a record: written one by one, or the fields of the input."""
    values, names = work.get("columns.value"), work.get("fields")
    if isinstance(values, dict) and any(name != "id" for name in values):
        return {work.texts.key(n): work.value(v, n) for n, v in values.items() if n != "id"}
    if isinstance(names, list) and names:
        return {str(name): _read(work, str(name)) for name in names if "{{" not in str(name)}
    if work.shape.whole is not None:
        return "{{ " + work.shape.whole + " }}"
    return missing(work, "the record's fields")


def _read(work: NodeWork, name: str) -> str:
    found = work.shape.read((name,))
    return "{{ " + (found or work.texts.left(f"$json.{name}", work.shape.why)) + " }}"


def _record(work: NodeWork) -> str:
    raw = given(work, "columns.value.id|id|recordId")
    return missing(work, "the record's id") if raw is None else segment(work, raw)


def _matched(work: NodeWork) -> Any:
    matched = work.get("columns.matchingColumns")
    if isinstance(matched, list) and matched and matched != ["id"]:
        return [work.text(str(one)) for one in matched][:3]
    return [missing(work, "the fields that identify a record")]


def _sorted(work: NodeWork) -> Any:
    rows = work.names("sort.property") or work.names("additionalOptions.sort")
    if rows:
        work.remark("It sorted the records: add sort[0][field] and sort[0][direction] to query.")
    return OMIT


def _most(work: NodeWork) -> Any:
    if work.get("returnAll") is False:
        return limit(100)(work)
    work.remark("It read all pages: a response has at most 100 records; http.paginate reads more.")
    return OMIT


_BASE = "https://api.airtable.com/v0/{base|application}/{table}"
_OWN: dict[Keys, Keys] = {("id",): ("id",), ("createdTime",): ("createdTime",),
                          ("fields",): ("fields",)}  # fmt: skip
_OF_RECORD = "A record's fields are in its `fields`."
_TYPECAST = {"typecast": "$options.typecast?"}
_FOUND = ServiceCall(
    "GET", _BASE,
    {"filterByFormula": "$filterByFormula|additionalOptions.filterByFormula?",
     "maxRecords": _most, "view": "$options.view|additionalOptions.view?",
     "sort": _sorted},
    items="records", each=_OWN, within=("fields",), remark=_OF_RECORD,
)  # fmt: skip
_CREATED = ServiceCall(
    "POST", _BASE, json={"fields": _fields, **_TYPECAST}, each=_OWN, within=("fields",),
    remark=_OF_RECORD,
)  # fmt: skip
_GOT = ServiceCall(
    "GET", f"{_BASE}/{{record}}", parts={"record": _record}, each=_OWN, within=("fields",),
    remark=_OF_RECORD,
)  # fmt: skip
_GONE = ServiceCall("DELETE", f"{_BASE}/{{record}}", parts={"record": _record})
AIRTABLE = Service(
    "Airtable",
    "https://airtable.com/developers/web/api/introduction",
    {
        "record: append": _CREATED,
        "record: create": _CREATED,
        "record: list": _FOUND,
        "record: search": _FOUND,
        "record: get": _GOT,
        "record: read": _GOT,
        "record: delete": _GONE,
        "record: deleteRecord": _GONE,
        "record: update": ServiceCall(
            "PATCH", f"{_BASE}/{{record}}", json={"fields": _fields, **_TYPECAST},
            parts={"record": _record}, each=_OWN, within=("fields",), remark=_OF_RECORD,
        ),
        "record: upsert": ServiceCall(
            "PATCH", _BASE,
            json={"performUpsert": {"fieldsToMergeOn": _matched},
                  "records": [{"fields": _fields}], **_TYPECAST},
            items="records", each=_OWN, within=("fields",), remark=_OF_RECORD,
        ),
        "base: getMany": ServiceCall(
            "GET", "https://api.airtable.com/v0/meta/bases", items="bases"
        ),
        "base: getSchema": ServiceCall(
            "GET", "https://api.airtable.com/v0/meta/bases/{base}/tables", items="tables"
        ),
    },
    always("record"),
    {"record": "get", "base": "getMany"},
    "a token with the scopes data.records:read and data.records:write; schema.bases:read for bases",
)  # fmt: skip

# Notion.


# For each form field of a value: the property's type, if the key does not name it.
_TYPES = {
    "title": "title", "textContent": "rich_text", "selectValue": "select", "date": "date",
    "multiSelectValue": "multi_select", "statusValue": "status", "numberValue": "number",
    "checkboxValue": "checkbox", "urlValue": "url", "emailValue": "email",
    "phoneValue": "phone_number", "relationValue": "relation", "peopleValue": "people",
}  # fmt: skip
_HOLDS = {kind: name for name, kind in _TYPES.items()}


_WORD = re.compile(r"[a-z_0-9]{1,30}")


def _text_of(work: NodeWork, raw: Any) -> list[Any]:
    return [{"text": {"content": work.value(raw)}}]


def _property(work: NodeWork, kind: str, row: dict[str, Any]) -> Any:
    """Return a property's value in the API's form."""
    raw = row.get(_HOLDS.get(kind, ""))
    if kind in ("title", "rich_text"):
        return {kind: _text_of(work, raw or "")}
    if kind in ("select", "status"):
        return {kind: {"name": work.value(raw)}}
    if kind == "date":
        return {kind: {"start": work.value(raw)}}
    if kind in ("multi_select", "relation", "people"):
        key = "name" if kind == "multi_select" else "id"
        many = raw if isinstance(raw, list) else [raw]
        return {kind: [{key: work.value(one)} for one in many if one]}
    if kind in _HOLDS:
        return {kind: work.value(raw)}
    return {kind or "todo": missing(work, "the property's value")}


def _properties(work: NodeWork) -> Any:
    found: dict[str, Any] = {}
    for row in work.names("propertiesUi.propertyValues"):
        name, _, kind = str(row.get("key", "")).rpartition("|")
        if not name:
            held = [_TYPES[key] for key in _TYPES if row.get(key) not in (None, "", [], [""])]
            name, kind = str(row.get("key", "")), held[0] if held else "rich_text"
        if "{{" in name or without_secrets(name) != name:
            work.remark("A property was omitted: its name is computed or looks like a secret.")
            continue
        found[name] = _property(work, kind, row)
    title = given(work, "title")
    if title is not None and not any("title" in one for one in found.values()):
        found["title"] = {"title": _text_of(work, title)}
    return found


def _filter(work: NodeWork) -> Any:
    text = work.get("filterJson")
    if isinstance(text, str) and text.strip("= "):
        try:
            return work.texts.json_text(text)
        except (ValueError, RecursionError):
            return missing(work, "the filter")
    rows = work.names("filters.conditions")
    if not rows:
        old = work.get("options.filter")
        return missing(work, "the filter") if old else OMIT
    found = [one for row in rows if (one := _condition(work, row)) is not None]
    if len(found) < len(rows):
        return missing(work, "the filter")
    return {"and" if work.word("matchType") == "allFilters" else "or": found}


def _condition(work: NodeWork, row: dict[str, Any]) -> Any:
    name, _, kind = str(row.get("key", "")).rpartition("|")
    holds = {"rich_text": "richTextValue", "title": "titleValue"}.get(kind, _HOLDS.get(kind, ""))
    how = str(row.get("condition", ""))
    if not name or not _WORD.fullmatch(how) or kind not in _HOLDS:
        return None
    empty = how in ("is_empty", "is_not_empty")
    return {
        "property": work.text(name),
        kind: {how: True if empty else work.value(row.get(holds, ""))},
    }


def _blocks(work: NodeWork) -> Any:
    rows = work.names("blockUi.blockValues")
    if not rows:
        return OMIT
    found = []
    for row in rows:
        kind = str(row.get("type") or "paragraph")
        if not _WORD.fullmatch(kind):
            return [{"todo": missing(work, "the blocks")}]
        raw = row.get("textContent", row.get("title", ""))
        if row.get("richText") is True:
            raw = "={{ $blocks }}"
            work.remark("A block has rich text; write its parts.")
        found.append({"object": "block", "type": kind, kind: {"rich_text": _text_of(work, raw)}})
    return found


_NOTION = "https://api.notion.com/v1"
_PAGE: dict[Keys, Keys] = {("id",): ("id",), ("url",): ("url",)}
_FLAT = "n8n flattened the properties; here they are in a page's `properties`."
_PARENT = {"page_id": "$pageId"}
_ARCHIVED = ServiceCall("PATCH", f"{_NOTION}/pages/{{pageId}}", json={"archived": True})
NOTION = Service(
    "Notion",
    "https://developers.notion.com/reference",
    {
        "databasePage: create": ServiceCall(
            "POST", f"{_NOTION}/pages",
            json={"parent": {"database_id": "$databaseId"}, "properties": _properties,
                  "children": _blocks},
            each=_PAGE, within=None, remark=_FLAT,
        ),
        "databasePage: get": ServiceCall(
            "GET", f"{_NOTION}/pages/{{pageId}}", each=_PAGE, within=None, remark=_FLAT
        ),
        "databasePage: getAll": ServiceCall(
            "POST", f"{_NOTION}/databases/{{databaseId}}/query",
            json={"page_size": limit(50), "filter": _filter}, items="results", each=_PAGE,
            within=None, remark=_FLAT,
        ),
        "databasePage: update": ServiceCall(
            "PATCH", f"{_NOTION}/pages/{{pageId}}", json={"properties": _properties}, each=_PAGE,
            within=None, remark=_FLAT,
        ),
        "page: create": ServiceCall(
            "POST", f"{_NOTION}/pages",
            json={"parent": _PARENT, "properties": _properties, "children": _blocks}, each=_PAGE,
            within=None, remark=_FLAT,
        ),
        "page: archive": _ARCHIVED,
        "page: search": ServiceCall(
            "POST", f"{_NOTION}/search", json={"query": "$text?", "page_size": limit(50)},
            items="results", each=_PAGE, within=None, remark=_FLAT,
        ),
        "block: append": ServiceCall(
            "PATCH", f"{_NOTION}/blocks/{{blockId}}/children", json={"children": _blocks},
            items="results",
        ),
        "block: getAll": ServiceCall(
            "GET", f"{_NOTION}/blocks/{{blockId}}/children", {"page_size": limit(50)},
            items="results", each={("id",): ("id",), ("type",): ("type",)}, within=None,
        ),
        "database: get": ServiceCall(
            "GET", f"{_NOTION}/databases/{{databaseId}}", each=_PAGE, within=None
        ),
        "database: getAll": ServiceCall(
            "POST", f"{_NOTION}/search",
            json={"filter": {"property": "object", "value": "database"}, "page_size": limit(50)},
            items="results", each=_PAGE, within=None,
        ),
        "user: getAll": ServiceCall("GET", f"{_NOTION}/users", items="results"),
    },
    always("page"),
    {"page": "create", "databasePage": "create", "block": "append", "database": "get"},
    "an internal integration's secret, with the pages shared with it",
    headers={"Notion-Version": "2022-06-28"},
)  # fmt: skip
