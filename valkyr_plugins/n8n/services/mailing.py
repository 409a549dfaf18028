"""Services that store lists of addresses: Mailchimp and Mautic."""

from typing import Any

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.services.calls import Service, ServiceCall, always
from valkyr_plugins.n8n.services.tables import SITE, crud, sent
from valkyr_plugins.n8n.services.values import limit

_MAILCHIMP = f"{SITE}/3.0/lists/{{list}}/members"


def _member(work: NodeWork) -> Any:
    rename = {"email": "email_address", "mergeFieldsUi": "", "locationFieldsUi": "", "groupsUi": ""}
    found = sent("email", "status?", places=("options", "updateFields"), rename=rename)(work)
    if isinstance(found, dict):
        rows = work.names("mergeFieldsUi.mergeFieldsValues")
        merged = {str(row.get("name")): work.value(row.get("value")) for row in rows}
        return found | ({"merge_fields": merged} if merged else {})
    return found


MAILCHIMP = Service(
    "Mailchimp",
    "https://mailchimp.com/developer/marketing/api",
    {
        **crud("member", _MAILCHIMP, "email", _member, _member, items="members", page="count"),
        "memberTag: create": ServiceCall(
            "POST", f"{_MAILCHIMP}/{{email}}/tags",
            json=lambda work: {"tags": [{"name": work.value(one), "status": "active"}
                                        for one in _list(work, "tags")]},
        ),
    },
    always("member"),
    {"member": "create", "memberTag": "create"},
    "any name, and the API key; the variable is https://<data centre>.api.mailchimp.com",
    "basic",
)  # fmt: skip


def _list(work: NodeWork, key: str) -> list[Any]:
    found = work.get(key)
    return found if isinstance(found, list) else [found] if found else []


MAUTIC = Service(
    "Mautic",
    "https://developer.mautic.org/#rest-api",
    {
        "contact: create": ServiceCall("POST", f"{SITE}/api/contacts/new",
                                       json=sent("email?", "firstName?", "lastName?",
                                                 rename={"firstName": "firstname",
                                                         "lastName": "lastname"})),
        "contact: get": ServiceCall("GET", f"{SITE}/api/contacts/{{contactId}}", result="contact"),
        "contact: getAll": ServiceCall("GET", f"{SITE}/api/contacts",
                                       {"limit": limit(50), "search": "$options.search?"}),
        "contact: update": ServiceCall("PATCH", f"{SITE}/api/contacts/{{contactId}}/edit",
                                       json=sent("email?", rename={"firstName": "firstname",
                                                                   "lastName": "lastname"})),
        "contact: delete": ServiceCall("DELETE", f"{SITE}/api/contacts/{{contactId}}/delete"),
        "contactSegment: add": ServiceCall(
            "POST", f"{SITE}/api/segments/{{segmentId}}/contact/{{contactId}}/add"),
        "contactSegment: remove": ServiceCall(
            "POST", f"{SITE}/api/segments/{{segmentId}}/contact/{{contactId}}/remove"),
    },
    always("contact"),
    {"contact": "create", "contactSegment": "add"},
    "the user's name and password; the variable is the server's address",
    "basic",
)  # fmt: skip
