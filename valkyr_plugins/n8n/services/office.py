"""Services for documents and tasks: Google Tasks, Contacts and Slides, Dropbox and Microsoft."""

from typing import Any

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.services.calls import Service, ServiceCall, always
from valkyr_plugins.n8n.services.tables import crud, sent
from valkyr_plugins.n8n.services.values import limit, missing

_PEOPLE = "https://people.googleapis.com/v1"
_TASKS = "https://tasks.googleapis.com/tasks/v1/lists/{task}/tasks"
GOOGLE_TASKS = Service(
    "Google Tasks",
    "https://developers.google.com/workspace/tasks/reference/rest",
    crud("task", _TASKS, "taskId", sent("title", rename={"dueDate": "due"}),
         sent(rename={"dueDate": "due"}), change="PATCH", items="items", page="maxResults"),
    always("task"),
    {"task": "create"},
    "a token with the scope tasks",
)  # fmt: skip
GOOGLE_CONTACTS = Service(
    "Google People",
    "https://developers.google.com/people/api/rest",
    {
        "contact: getAll": ServiceCall(
            "GET", f"{_PEOPLE}/people/me/connections",
            {"personFields": "names,emailAddresses,phoneNumbers", "pageSize": limit(100)},
            items="connections",
        ),
        "contact: create": ServiceCall(
            "POST", f"{_PEOPLE}/people:createContact",
            json={"names": [{"givenName": "$givenName?", "familyName": "$familyName?"}]},
            remark="Addresses and numbers were left out: write them in the API's form.",
        ),
    },
    always("contact"),
    {"contact": "create"},
    "a token with the scope contacts",
)  # fmt: skip
_SLIDES = "https://slides.googleapis.com/v1/presentations"


def _replacements(work: NodeWork) -> Any:
    rows = work.names("textUi.textValues")
    found: list[Any] = [
        {"replaceAllText": {
            "containsText": {"text": work.value(row.get("text", "")),
                             "matchCase": row.get("matchCase") is True},
            "replaceText": work.value(row.get("replaceText", "")),
        }}
        for row in rows
    ]  # fmt: skip
    return {"requests": found or [missing(work, "the texts")]}


GOOGLE_SLIDES = Service(
    "Google Slides",
    "https://developers.google.com/workspace/slides/api/reference/rest",
    {
        "presentation: create": ServiceCall("POST", _SLIDES, json={"title": "$title"}),
        "presentation: get": ServiceCall("GET", f"{_SLIDES}/{{presentationId}}"),
        "presentation: getSlides": ServiceCall(
            "GET", f"{_SLIDES}/{{presentationId}}", items="slides"
        ),
        "presentation: replaceText": ServiceCall(
            "POST", f"{_SLIDES}/{{presentationId}}:batchUpdate", json=_replacements
        ),
        "page: getThumbnail": ServiceCall(
            "GET", f"{_SLIDES}/{{presentationId}}/pages/{{pageObjectId}}/thumbnail"
        ),
    },
    always("presentation"),
    {"presentation": "create"},
    "a token with the scope presentations",
)  # fmt: skip

_DROPBOX = "https://api.dropboxapi.com/2/files"
DROPBOX = Service(
    "Dropbox",
    "https://www.dropbox.com/developers/documentation/http/documentation",
    {
        "folder: list": ServiceCall("POST", f"{_DROPBOX}/list_folder", json={"path": "$path"},
                                    items="entries"),
        "folder: create": ServiceCall(
            "POST", f"{_DROPBOX}/create_folder_v2", json={"path": "$path"}
        ),
        **{
            f"{kind}: {name}": ServiceCall(
                "POST", f"{_DROPBOX}/{name}_v2",
                json={"path": "$path"} if name == "delete"
                else {"from_path": "$path", "to_path": "$toPath"},
            )
            for kind in ("file", "folder") for name in ("copy", "move", "delete")
        },
    },
    always("file"),
    {"file": "upload", "folder": "create"},
    "a token with the scopes files.content.read and files.content.write",
)  # fmt: skip

_DRIVE = "https://graph.microsoft.com/v1.0/me/drive"
ONEDRIVE = Service(
    "Microsoft Graph",
    "https://learn.microsoft.com/en-us/graph/api/resources/onedrive",
    {
        "file: get": ServiceCall("GET", f"{_DRIVE}/items/{{fileId}}"),
        "file: download": ServiceCall("GET", f"{_DRIVE}/items/{{fileId}}/content"),
        "file: delete": ServiceCall("DELETE", f"{_DRIVE}/items/{{fileId}}"),
        "file: search": ServiceCall("GET", f"{_DRIVE}/root/search(q='{{query}}')", items="value"),
        "folder: getChildren": ServiceCall(
            "GET", f"{_DRIVE}/items/{{folderId}}/children", items="value"
        ),
        "folder: create": ServiceCall(
            "POST", f"{_DRIVE}/root/children", json={"name": "$name", "folder": {}}
        ),
        "folder: delete": ServiceCall("DELETE", f"{_DRIVE}/items/{{folderId}}"),
    },
    always("file"),
    {"file": "upload", "folder": "create"},
    "a token with the permission Files.ReadWrite",
)  # fmt: skip
_BOOK = f"{_DRIVE}/items/{{workbook|workbookId}}/workbook"
EXCEL = Service(
    "Microsoft Graph",
    "https://learn.microsoft.com/en-us/graph/api/resources/excel",
    {
        "worksheet: readRows": ServiceCall(
            "GET", f"{_BOOK}/worksheets/{{worksheet|worksheetId}}/usedRange", items="values",
            within=None, remark="A row is a list of values; the first has the columns' names.",
        ),
        "worksheet: getContent": ServiceCall(
            "GET", f"{_BOOK}/worksheets/{{worksheet|worksheetId}}/usedRange", items="values",
            within=None, remark="A row is a list of values; the first has the columns' names.",
        ),
        "worksheet: getAll": ServiceCall("GET", f"{_BOOK}/worksheets", items="value"),
        "table: getRows": ServiceCall(
            "GET", f"{_BOOK}/tables/{{table|tableId}}/rows", items="value", within=None,
            remark="A row has its values as a list.",
        ),
        "workbook: getAll": ServiceCall("GET", f"{_DRIVE}/root/search(q='.xlsx')", items="value"),
    },
    always("workbook"),
    {"workbook": "getAll", "worksheet": "getAll", "table": "getRows"},
    "a token with the permission Files.ReadWrite",
)  # fmt: skip
