"""Services for sales and development: HubSpot and GitHub."""

import re
from typing import Any

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.services.calls import Service, ServiceCall, always
from valkyr_plugins.n8n.services.values import OMIT, given, limit, missing, pairs, segment
from valkyr_plugins.n8n.shape import Keys
from valkyr_plugins.n8n.texts import is_expression

IN_PROPERTIES = "An object's fields are in its `properties`, as strings; n8n's vid is its id."
_RENAMED = {
    "companyName": "company", "phoneNumber": "phone", "websiteUrl": "website",
    "dealName": "dealname", "stage": "dealstage", "dealStage": "dealstage",
    "ticketName": "subject", "pipelineId": "hs_pipeline", "stageId": "hs_pipeline_stage",
    "companyDomainName": "domain", "postalCode": "zip", "streetAddress": "address",
    "lifeCycleStage": "lifecyclestage", "leadStatus": "hs_lead_status",
}  # fmt: skip
_PLACES = ("additionalFields", "updateFields")


def _of_hubspot(*own: str) -> Any:
    """Return the function that makes an object's properties, including the `own` fields."""

    def made(work: NodeWork) -> Any:
        values = {key: work.get(key) for key in own if work.get(key) not in (None, "")}
        for place in _PLACES:
            more = work.get(place)
            values |= more if isinstance(more, dict) else {}
        custom = values.pop("customPropertiesUi", None)
        rows = custom.get("customPropertiesValues") if isinstance(custom, dict) else None
        found = {
            _RENAMED.get(name, work.texts.key(name).lower()): work.value(raw, name)
            for name, raw in values.items()
            if not isinstance(raw, (dict, list))
        }
        if len(found) < len(values):
            work.remark("Links to other objects were omitted: add `associations`.")
        return found | pairs(work, rows if isinstance(rows, list) else [], "property", "value")

    return made


def _groups(work: NodeWork) -> Any:
    groups = []
    for group in work.names("filterGroupsUi.filterGroupsValues"):
        rows = group.get("filtersUi", {})
        rows = rows.get("filterValues", []) if isinstance(rows, dict) else []
        groups.append({"filters": [_compared(work, row) for row in rows if isinstance(row, dict)]})
    return groups or [{"filters": [{"propertyName": missing(work, "the filter")}]}]


def _compared(work: NodeWork, row: dict[str, Any]) -> dict[str, Any]:
    name = str(row.get("propertyName", "")).partition("|")[0]
    how = str(row.get("operator", "EQ"))
    known = re.fullmatch(r"[A-Z_]{2,30}", how)
    operator = how if known else missing(work, "the operator")
    found = {"propertyName": work.text(name), "operator": operator}
    return found | ({"value": work.value(row["value"])} if row.get("value") else {})


def _crm(plural: str, key: str, own: tuple[str, ...]) -> dict[str, ServiceCall]:
    """Return the calls for one kind of object in HubSpot; all kinds have the same calls."""
    base, kind = (
        f"https://api.hubapi.com/crm/v3/objects/{plural}",
        {"properties": _of_hubspot(*own)},
    )
    one = plural.removesuffix("s") if plural != "companies" else "company"
    found: dict[Keys, Keys] = {("id",): ("id",), ("vid",): ("id",)}
    own_of: Any = {"each": found, "within": ("properties",), "remark": IN_PROPERTIES}
    return {
        f"{one}: create": ServiceCall("POST", base, json=kind, **own_of),
        f"{one}: get": ServiceCall("GET", f"{base}/{{{key}}}", **own_of),
        f"{one}: getAll": ServiceCall(
            "GET", base, {"limit": limit(100)}, items="results", **own_of
        ),
        f"{one}: update": ServiceCall("PATCH", f"{base}/{{{key}}}", json=kind, **own_of),
        f"{one}: delete": ServiceCall("DELETE", f"{base}/{{{key}}}"),
        f"{one}: search": ServiceCall(
            "POST", f"{base}/search", json={"filterGroups": _groups, "limit": limit(100)},
            items="results", **own_of,
        ),
    }  # fmt: skip


HUBSPOT = Service(
    "HubSpot",
    "https://developers.hubspot.com/docs/api-reference/crm-contacts-v3/guide",
    {
        **_crm("contacts", "contactId", ("email",)),
        **_crm("companies", "companyId", ("name",)),
        **_crm("deals", "dealId", ("stage",)),
        **_crm("tickets", "ticketId", ("ticketName", "pipelineId", "stageId")),
        "contact: upsert": ServiceCall(
            "POST", "https://api.hubapi.com/crm/v3/objects/contacts/batch/upsert",
            json={"inputs": [{"idProperty": "email", "id": "$email",
                              "properties": _of_hubspot("email")}]},
            items="results", each={("id",): ("id",), ("vid",): ("id",)}, within=("properties",),
            remark=IN_PROPERTIES,
        ),
    },
    lambda work: "deal" if work.node.version < 2 else "contact",
    {"contact": "upsert", "company": "create", "deal": "create", "ticket": "create"},
    "a token with the scopes crm.objects.contacts.read and .write, and those of other objects",
)  # fmt: skip

# GitHub.


def _path(work: NodeWork) -> str:
    raw = given(work, "filePath")
    if raw is None:
        return missing(work, "filePath")
    text = segment(work, raw)
    return text if is_expression(raw) else text.replace("%2F", "/")


def _names(key: str, name: str) -> Any:
    def made(work: NodeWork) -> Any:
        rows = work.get(key)
        rows = rows if isinstance(rows, list) else []
        found = [work.value(row.get(name)) for row in rows if isinstance(row, dict)]
        return found or OMIT

    return made


_REPOSITORY = "https://api.github.com/repos/{owner}/{repository}"
_ISSUE = f"{_REPOSITORY}/issues/{{issueNumber}}"
GITHUB = Service(
    "GitHub",
    "https://docs.github.com/en/rest",
    {
        "file: get": ServiceCall(
            "GET", f"{_REPOSITORY}/contents/{{path}}", {"ref": "$additionalParameters.reference?"},
            parts={"path": _path}, headers={"Accept": "application/vnd.github.raw+json"},
            remark="Accept requests the content; otherwise GitHub responds with JSON and Base64.",
        ),
        "file: list": ServiceCall(
            "GET", f"{_REPOSITORY}/contents/{{path}}", parts={"path": _path}, items="."
        ),
        "issue: create": ServiceCall(
            "POST", f"{_REPOSITORY}/issues",
            json={"title": "$title", "body": "$body?", "labels": _names("labels", "label"),
                  "assignees": _names("assignees", "assignee")},
        ),
        "issue: createComment": ServiceCall("POST", f"{_ISSUE}/comments", json={"body": "$body"}),
        "issue: edit": ServiceCall(
            "PATCH", _ISSUE,
            json={"title": "$editFields.title?", "body": "$editFields.body?",
                  "state": "$editFields.state?", "labels": _names("editFields.labels", "label"),
                  "assignees": _names("editFields.assignees", "assignee")},
        ),
        "issue: get": ServiceCall("GET", _ISSUE),
        "release: create": ServiceCall(
            "POST", f"{_REPOSITORY}/releases",
            json={"tag_name": "$releaseTag", "name": "$additionalFields.name?",
                  "body": "$additionalFields.body?", "draft": "$additionalFields.draft?",
                  "prerelease": "$additionalFields.prerelease?"},
        ),
        "release: getAll": ServiceCall(
            "GET", f"{_REPOSITORY}/releases", {"per_page": limit(50)}, items="."
        ),
        "repository: get": ServiceCall("GET", _REPOSITORY),
        "repository: getIssues": ServiceCall(
            "GET", f"{_REPOSITORY}/issues",
            {"per_page": limit(50), "state": "$getRepositoryIssuesFilters.state?",
             "labels": "$getRepositoryIssuesFilters.labels?"},
            items=".",
        ),
    },
    always("issue"),
    {"issue": "create", "file": "create", "repository": "getIssues", "release": "create"},
    "a token with the scope repo (or contents and issues of a fine-grained token)",
    headers={"Accept": "application/vnd.github+json"},
)  # fmt: skip
