"""Google's services: Drive, Gmail, Calendar and Docs."""

import json
from typing import Any

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.services.calls import Service, ServiceCall, always
from valkyr_plugins.n8n.services.values import (
    OMIT,
    content,
    given,
    limit,
    listed,
    missing,
    segment,
)
from valkyr_plugins.n8n.shape import operand
from valkyr_plugins.n8n.texts import is_expression

# Drive.


_FOLDER = "application/vnd.google-apps.folder"
_BOUNDARY = "valkyr-part"


def _parent(work: NodeWork) -> Any:
    raw = given(work, "folderId|parents")
    if raw is None:
        return OMIT
    return [work.value(one) for one in (raw if isinstance(raw, list) else [raw])]


def _query(work: NodeWork) -> Any:
    asked = given(work, "queryString")
    if work.word("searchMethod") == "query" or work.get("useQueryString") is True:
        return missing(work, "the query") if asked is None else work.value(asked)
    found = ["trashed = false"]
    if asked is not None:
        text = asked if is_expression(asked) else str(asked).replace("'", "\\'")
        found.append(f"name contains '{work.text(text)}'")
    folder, kind = given(work, "filter.folderId"), work.word("filter.whatToSearch", "all")
    if folder is not None:
        found.append(f"'{work.text(folder)}' in parents")
    if kind != "all":
        found.append(f"mimeType {'=' if kind == 'folders' else '!='} '{_FOLDER}'")
    return " and ".join(found)


def _written(work: NodeWork, raw: Any) -> str:
    """Return a value as JSON text; an expression is converted by a template filter."""
    if is_expression(raw):
        return "{{ " + operand(work.texts.expression(raw)) + " | string | tojson }}"
    text = work.text(raw)
    return missing(work, "a text") if "{{" in text else json.dumps(text)


def _upload(work: NodeWork, media: str, text: str) -> str:
    """Return the body of an upload: the file's name and folder as JSON, then its content."""
    about = f'{{"name": {_written(work, given(work, "name") or work.node.name)}'
    folder = given(work, "folderId|parents")
    if folder is not None:
        folders = folder if isinstance(folder, list) else [folder]
        about += f', "parents": [{", ".join(_written(work, one) for one in folders)}]'
    head = f"--{_BOUNDARY}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{about}}}"
    return f"{head}\r\n--{_BOUNDARY}\r\n{media}\r\n\r\n{text}\r\n--{_BOUNDARY}--"


def _of_text(work: NodeWork) -> str:
    text = work.text(given(work, "content") or "")
    return _upload(work, "Content-Type: text/plain; charset=UTF-8", text)


def _of_file(work: NodeWork) -> str:
    return _upload(work, "Content-Transfer-Encoding: base64", content(work, "the file, as Base64"))


_FILES = "https://www.googleapis.com/drive/v3/files"
_SENT = {"Content-Type": f"multipart/related; boundary={_BOUNDARY}"}
_UPLOAD = "https://www.googleapis.com/upload/drive/v3/files"
_ANY_DRIVE = {"supportsAllDrives": "true"}
DRIVE = Service(
    "Google Drive",
    "https://developers.google.com/workspace/drive/api/reference/rest/v3",
    {
        "file: download": ServiceCall(
            "GET", f"{_FILES}/{{fileId}}", {"alt": "media", **_ANY_DRIVE},
            remark="The content is in output.body (set saveTo to a path to store a file). A Google "
            "document has no content: request …/export with a mimeType.",
        ),
        "file: upload": ServiceCall(
            "POST", _UPLOAD, {"uploadType": "multipart", **_ANY_DRIVE}, body=_of_file,
            headers=_SENT, remark="The file's content is in the body, as Base64.",
        ),
        "file: createFromText": ServiceCall(
            "POST", _UPLOAD, {"uploadType": "multipart", **_ANY_DRIVE}, body=_of_text,
            headers=_SENT,
        ),
        "file: copy": ServiceCall(
            "POST", f"{_FILES}/{{fileId}}/copy", _ANY_DRIVE,
            {"name": "$name?", "parents": _parent},
        ),
        "file: deleteFile": ServiceCall("DELETE", f"{_FILES}/{{fileId}}", _ANY_DRIVE),
        "file: delete": ServiceCall("DELETE", f"{_FILES}/{{fileId}}", _ANY_DRIVE),
        "file: list": ServiceCall(
            "GET", _FILES, {"q": _query, "pageSize": limit(50, most=1000)}, items="files"
        ),
        "file: move": ServiceCall(
            "PATCH", f"{_FILES}/{{fileId}}", {"addParents": "$folderId", **_ANY_DRIVE}, {},
            remark="It also removed the file from its old folder: name it in removeParents.",
        ),
        "file: share": ServiceCall(
            "POST", f"{_FILES}/{{fileId}}/permissions", _ANY_DRIVE,
            {
                "role": "$permissionsUi.permissionsValues.role",
                "type": "$permissionsUi.permissionsValues.type",
                "emailAddress": "$permissionsUi.permissionsValues.emailAddress?",
                "domain": "$permissionsUi.permissionsValues.domain?",
                "allowFileDiscovery": "$permissionsUi.permissionsValues.allowFileDiscovery?",
            },
        ),
        "file: update": ServiceCall(
            "PATCH", f"{_FILES}/{{fileId}}", _ANY_DRIVE, {"name": "$newUpdatedFileName?"},
            remark=("It changes only the name; for new content, send a PATCH to " "https://www.googleapis.com/upload/drive/v3/files/ID?uploadType=media."),
        ),
        "fileFolder: search": ServiceCall(
            "GET", _FILES, {"q": _query, "pageSize": limit(50, most=1000)}, items="files"
        ),
        "folder: create": ServiceCall(
            "POST", _FILES, _ANY_DRIVE,
            {"name": "$name", "mimeType": _FOLDER, "parents": _parent},
        ),
        "folder: deleteFolder": ServiceCall("DELETE", f"{_FILES}/{{folderNoRootId}}", _ANY_DRIVE),
    },
    always("file"),
    {"file": "upload", "fileFolder": "search", "folder": "create"},
    "a token with the scope https://www.googleapis.com/auth/drive",
)  # fmt: skip

# Gmail. Mail is sent with email.send, because Gmail's API requires a message in MIME and Base64.


_MAILS = "https://gmail.googleapis.com/gmail/v1/users/me"
_ID: dict[tuple[str | int, ...], tuple[str | int, ...]] = {
    ("id",): ("id",), ("threadId",): ("threadId",),
}  # fmt: skip
_ONLY_IDS = "The list contains only ids; read each with GET …/{id}, as the operation get does."
_MAIL_FORM = "A message has payload.headers and payload.parts (Base64) instead of n8n's fields."


def _simple(work: NodeWork) -> str:
    return "full" if work.get("simple") is False else "metadata"


def _label_ids(work: NodeWork) -> Any:
    if is_expression(given(work, "labelIds")):
        work.remark("labelIds is computed: it must be a list.")
    found = listed("labelIds")(work)
    return missing(work, "labelIds") if found is OMIT else found


GMAIL = Service(
    "Gmail",
    "https://developers.google.com/workspace/gmail/api/reference/rest",
    {
        "message: get": ServiceCall(
            "GET", f"{_MAILS}/messages/{{messageId}}", {"format": _simple}, each=_ID, within=None,
            remark=_MAIL_FORM,
        ),
        "message: getAll": ServiceCall(
            "GET", f"{_MAILS}/messages",
            {"q": "$filters.q|additionalFields.q?", "maxResults": limit(50, most=500),
             "labelIds": listed("filters.labelIds|additionalFields.labelIds")},
            items="messages", each=_ID, within=None,
            remark=f"{_ONLY_IDS} Put other filters into q, as in Gmail's search box.",
        ),
        "message: addLabels": ServiceCall(
            "POST", f"{_MAILS}/messages/{{messageId}}/modify", json={"addLabelIds": _label_ids}
        ),
        "message: removeLabels": ServiceCall(
            "POST", f"{_MAILS}/messages/{{messageId}}/modify", json={"removeLabelIds": _label_ids}
        ),
        "message: markAsRead": ServiceCall(
            "POST", f"{_MAILS}/messages/{{messageId}}/modify",
            json={"removeLabelIds": ["UNREAD"]},
        ),
        "message: markAsUnread": ServiceCall(
            "POST", f"{_MAILS}/messages/{{messageId}}/modify", json={"addLabelIds": ["UNREAD"]}
        ),
        "message: delete": ServiceCall("DELETE", f"{_MAILS}/messages/{{messageId}}"),
        "messageLabel: add": ServiceCall(
            "POST", f"{_MAILS}/messages/{{messageId}}/modify", json={"addLabelIds": _label_ids}
        ),
        "messageLabel: remove": ServiceCall(
            "POST", f"{_MAILS}/messages/{{messageId}}/modify", json={"removeLabelIds": _label_ids}
        ),
        "label: getAll": ServiceCall("GET", f"{_MAILS}/labels", items="labels"),
        "label: get": ServiceCall("GET", f"{_MAILS}/labels/{{labelId}}"),
        "label: create": ServiceCall("POST", f"{_MAILS}/labels", json={"name": "$name"}),
        "label: delete": ServiceCall("DELETE", f"{_MAILS}/labels/{{labelId}}"),
        "thread: getAll": ServiceCall(
            "GET", f"{_MAILS}/threads", {"q": "$filters.q?", "maxResults": limit(50, most=500)},
            items="threads", each={("id",): ("id",), ("snippet",): ("snippet",)}, within=None,
            remark=f"{_ONLY_IDS} Put other filters into q, as in Gmail's search box.",
        ),
        "thread: get": ServiceCall(
            "GET", f"{_MAILS}/threads/{{threadId}}", each={("id",): ("id",)}, within=None,
            remark=_MAIL_FORM,
        ),
        "thread: addLabels": ServiceCall(
            "POST", f"{_MAILS}/threads/{{threadId}}/modify", json={"addLabelIds": _label_ids}
        ),
        "thread: removeLabels": ServiceCall(
            "POST", f"{_MAILS}/threads/{{threadId}}/modify", json={"removeLabelIds": _label_ids}
        ),
    },
    always("message"),
    {"message": "send", "draft": "create", "label": "getAll", "thread": "getAll"},
    "a token with the scope https://www.googleapis.com/auth/gmail.modify",
)  # fmt: skip

# Calendar and Docs.


def _when(key: str) -> Any:
    def made(work: NodeWork) -> Any:
        raw = given(work, f"{key}|updateFields.{key}")
        if raw is None:
            return OMIT if work.word("operation") == "update" else missing(work, key)
        allday = work.get("additionalFields.allday", work.get("updateFields.allday"))
        return {"date" if allday == "yes" else "dateTime": work.value(raw)}

    return made


def _guests(work: NodeWork) -> Any:
    raw = given(work, "additionalFields.attendees|updateFields.attendees")
    if raw is None:
        return OMIT
    many = raw if isinstance(raw, list) else [raw]
    texts = [one for text in many for one in _split(text)]
    return [{"email": work.value(one)} for one in texts]


def _split(text: Any) -> list[Any]:
    if not isinstance(text, str) or is_expression(text):
        return [text]
    return [one.strip() for one in text.split(",") if one.strip()]


_EVENTS = "https://www.googleapis.com/calendar/v3/calendars/{calendar}/events"
_EVENT = {
    "start": _when("start"), "end": _when("end"), "attendees": _guests,
    "summary": "$additionalFields.summary|updateFields.summary?",
    "description": "$additionalFields.description|updateFields.description?",
    "location": "$additionalFields.location|updateFields.location?",
}  # fmt: skip
_ZONE = "A time without an offset needs a timeZone in addition to dateTime."
CALENDAR = Service(
    "Google Calendar",
    "https://developers.google.com/workspace/calendar/api/v3/reference",
    {
        "event: create": ServiceCall("POST", _EVENTS, json=_EVENT, remark=_ZONE),
        "event: update": ServiceCall("PATCH", f"{_EVENTS}/{{eventId}}", json=_EVENT, remark=_ZONE),
        "event: get": ServiceCall("GET", f"{_EVENTS}/{{eventId}}"),
        "event: delete": ServiceCall("DELETE", f"{_EVENTS}/{{eventId}}"),
        "event: getAll": ServiceCall(
            "GET", _EVENTS,
            {"timeMin": "$timeMin|options.timeMin?", "timeMax": "$timeMax|options.timeMax?",
             "maxResults": limit(50, most=2500), "q": "$options.query?",
             "orderBy": "$options.orderBy?", "singleEvents": "$options.singleEvents?"},
            items="items",
        ),
    },
    always("event"),
    {"event": "create"},
    "a token with the scope https://www.googleapis.com/auth/calendar.events",
)  # fmt: skip


def _edits(work: NodeWork) -> Any:
    found: list[Any] = []
    for row in work.names("actionsUi.actionFields"):
        text = work.value(row.get("text", ""))
        if row.get("action", "insert") == "insert" and row.get("object", "text") == "text":
            found.append({"insertText": {"text": text, "endOfSegmentLocation": {}}})
        elif row.get("action") == "replaceAll":
            sought = {"text": text, "matchCase": row.get("matchCase") is True}
            new = work.value(row.get("replaceText", ""))
            found.append({"replaceAllText": {"containsText": sought, "replaceText": new}})
        else:
            found.append({"todo": missing(work, f"the edit {row.get('action')}")})
    return found or [{"todo": missing(work, "the edits")}]


def _document(work: NodeWork) -> str:
    raw = work.get("documentURL")
    if isinstance(raw, str) and "/d/" in raw and not is_expression(raw):
        raw = raw.partition("/d/")[2].partition("/")[0]
    elif is_expression(raw):
        work.remark("documentURL may be an address; the API needs the ID in it.")
    return missing(work, "documentURL") if not raw else segment(work, raw)


_DOCUMENT = "https://docs.googleapis.com/v1/documents/{document}"
DOCS = Service(
    "Google Docs",
    "https://developers.google.com/workspace/docs/api/reference/rest",
    {
        "document: get": ServiceCall(
            "GET", _DOCUMENT, parts={"document": _document},
            each={("documentId",): ("documentId",), ("title",): ("title",)}, within=None,
            remark="n8n converted the document to one text; its parts are in output.body.body.",
        ),
        "document: update": ServiceCall(
            "POST", f"{_DOCUMENT}:batchUpdate", json={"requests": _edits},
            parts={"document": _document},
        ),
        "document: create": ServiceCall(
            "POST", _FILES, _ANY_DRIVE,
            {"name": "$title", "mimeType": "application/vnd.google-apps.document",
             "parents": _parent},
            remark="It also needs the scope https://www.googleapis.com/auth/drive.file.",
        ),
    },
    always("document"),
    {"document": "create"},
    "a token with the scope https://www.googleapis.com/auth/documents",
)  # fmt: skip
