"""Every row of the table of services becomes a request without secrets that can be published."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.plugins.n8n.exports import chain, codes, node, row, tasks
from valkyr_plugins.n8n.services import SERVICES
from valkyr_plugins.n8n.services.calls import ServiceCall

ROWS = [(kind, name) for kind, entry in SERVICES.items() for name in entry.calls]
SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123"
LIST = {"__rl": True, "mode": "list", "value": "gid=0", "cachedResultName": "Orders"}
COLUMNS = {"mappingMode": "defineBelow", "matchingColumns": ["row_number"],
           "value": {"Name": "Ann", "row_number": "7", "id": "rec1"},
           "schema": [{"id": "Mail"}, {"id": "Name"}, {"id": "row_number"}]}  # fmt: skip
PROPERTIES = {"propertyValues": [{"key": "Name|title", "title": "x"},
                                 {"key": "Tags|multi_select", "multiSelectValue": ["x"]},
                                 {"key": "When|date", "date": "2026-11-27"}]}  # fmt: skip
# What functions of the table read; most, and by the node's type.
GIVEN: dict[str, Any] = {
    "additionalFields": {"subject": "x"}, "updateFields": {"subject": "x"},
    "fieldsUi": {"fieldValues": [{"fieldId": "a", "fieldName": "a", "fieldValue": "x"}]},
    "filters": {"conditions": [{"keyName": "id", "condition": "eq", "keyValue": "7"}]},
    "textUi": {"textValues": [{"text": "a", "replaceText": "b"}]}, "columns": "a, b",
    "message": "x", "from": "x", "to": "x", "cityName": "x", "person": "x", "template": "a|en",
    "recipientPhoneNumber": "x", "phoneNumberId": "x", "textBody": "x", "project": "x",
    "issueType": "x", "summary": "x", "workflowObject": "{}", "tags": ["x"], "keyword": "x",
    "subreddit": "x", "rowId": "x", "email": "x",
}  # fmt: skip
READ: dict[str, dict[str, Any]] = {
    "airtable": {"columns": COLUMNS | {"matchingColumns": ["Name"]}},
    "github": {"filePath": "a/b c.json", "labels": [{"label": "x"}]},
    "gmail": {"labelIds": ["x"], "filters": {"labelIds": ["x"]}},
    "googleCalendar": {"start": "2026-11-27T10:00:00Z", "end": "2026-11-27T11:00:00Z",
                       "additionalFields": {"attendees": ["ann@example.com,bob@example.com"]}},
    "googleDocs": {"documentURL": "https://docs.google.com/document/d/abcdefghijkl/edit",
                   "actionsUi": {"actionFields": [{"action": "insert", "text": "x"}]}},
    "googleDrive": {"folderId": "x", "queryString": "x", "content": "x"},
    "googleSheets": {"sheetName": LIST, "columns": COLUMNS, "startIndex": 3},
    "hubspot": {"email": "ann@example.com", "additionalFields": {"firstName": "Ann"},
                "filterGroupsUi": {"filterGroupsValues": [{"filtersUi": {"filterValues": [
                    {"propertyName": "email", "operator": "EQ", "value": "x"}]}}]}},
    "microsoftOutlook": {"toRecipients": "ann@example.com; bob@example.com",
                         "updateFields": {"isRead": True}},
    "notion": {"propertiesUi": PROPERTIES, "filters": {"conditions": [
        {"key": "Done|checkbox", "condition": "equals", "checkboxValue": True}]},
        "blockUi": {"blockValues": [{"type": "paragraph", "textContent": "x"}]}},
    "telegram": {"file": "https://a.example/x.png", "replyMarkup": "inlineKeyboard",
                 "inlineKeyboard": {"rows": [{"row": {"buttons": [{"text": "x"}]}}]}},
}  # fmt: skip


def named(call: ServiceCall) -> Iterator[str]:
    """Yield the parameters that a row names."""
    yield from re.findall(r"\{([A-Za-z.|]+)\}", call.url)
    pending: list[Any] = [call.query, call.json, call.form]
    while pending:
        spec = pending.pop()
        yield from getattr(spec, "reads", ())
        if isinstance(spec, str) and spec.startswith("$"):
            yield spec[1:].removesuffix("?")
        elif isinstance(spec, dict):
            pending += spec.values()
        elif isinstance(spec, list):
            pending += spec


def merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    both = {key: merged(one[key], other[key]) for key in one.keys() & other.keys()
            if isinstance(one[key], dict) and isinstance(other[key], dict)}  # fmt: skip
    return {**one, **other, **both}


def parameters(kind: str, name: str) -> dict[str, Any]:
    """Return the parameters of a node for a row."""
    resource, _, operation = name.partition(": ")
    found: dict[str, Any] = {}
    for keys in named(SERVICES[kind].calls[name]):
        value: Any = "x"
        for key in reversed(keys.split("|")[0].split(".")):
            value = {key: value}
        found = merged(found, value)
    return merged(found, READ.get(kind, GIVEN)) | {"resource": resource, "operation": operation}


def version(kind: str) -> float:
    return 4.5 if kind == "googleSheets" else 2


@pytest.mark.parametrize(("kind", "name"), ROWS)
def test_every_row_becomes_a_request_that_can_be_published(kind: str, name: str) -> None:
    found = chain(node("It", kind, parameters(kind, name), version(kind)))

    task, about = tasks(found)["it"], row(found, "It")
    assert (task["use"], about.status) == ("http.request", "changed")
    assert any(SERVICES[kind].docs in remark for remark in about.remarks)
    # Only a file of n8n's, which the export lacks, is left to provide.
    assert codes(found) == ({"unfinished"} if name == "file: upload" else set())
    assert bool(found.report.credentials) is bool(SERVICES[kind].sign)


def spoilt(value: Any) -> Any:
    """Return the value with the secret in every text."""
    if isinstance(value, dict):
        return {key: spoilt(one) for key, one in value.items()}
    if isinstance(value, list):
        return [spoilt(one) for one in value]
    return f"{SECRET}|title" if value == "Name|title" else SECRET


@pytest.mark.parametrize(("kind", "name"), ROWS)
def test_no_row_takes_a_secret_along(kind: str, name: str) -> None:
    resource, _, operation = name.partition(": ")
    given = spoilt(parameters(kind, name)) | {"resource": resource, "operation": operation}

    found = chain(node("It", kind, given, version(kind)))

    assert SECRET not in json.dumps([found.definition, found.report.told()])


def only(kind: str, given: Any, version: float = 2, **more: Any) -> Any:
    return tasks(chain(node("It", kind, given, version, **more)))["it"]


def test_a_row_of_a_sheet_is_written_in_the_order_of_its_columns() -> None:
    address = "https://docs.google.com/spreadsheets/d/abcdefghijkl/"
    given = {"operation": "append", "sheetName": LIST, "columns": COLUMNS,
             "documentId": {"__rl": True, "mode": "url", "value": address}}  # fmt: skip
    named = {"googleSheetsOAuth2Api": {"name": "Our sheets"}}

    task = only("googleSheets", given, 4.5, credentials=named)

    assert task["credential"] == "our_sheets"
    assert task["with"] == {
        "method": "POST",
        "url": "https://sheets.googleapis.com/v4/spreadsheets/abcdefghijkl/values/"
        "%27Orders%27:append",
        "query": {"valueInputOption": "USER_ENTERED"},
        "json": {"values": [[None, "Ann", "rec1"]]},
    }


@pytest.mark.parametrize(
    ("cleared", "cells"),
    [
        ({}, ""),
        ({"keepFirstRow": True}, "%21A2:ZZZ"),
        ({"clear": "specificRows", "startIndex": 3, "rowsToDelete": 2}, "%213:4"),
        ({"clear": "specificRows"}, "%211:1"),
        ({"clear": "specificColumns", "startIndex": "Z", "columnsToDelete": 2}, "%21Z:AA"),
        ({"clear": "specificRange", "range": "Other!B2:C9"}, "%21B2%3AC9"),
    ],
)
def test_only_the_range_of_the_node_is_cleared(cleared: dict[str, Any], cells: str) -> None:
    given = {"operation": "clear", "sheetName": LIST, "documentId": "abcdefghijkl", **cleared}

    url = only("googleSheets", given, 4.5)["with"]["url"]

    assert url.endswith(f"/values/%27Orders%27{cells}:clear")


def test_a_range_to_clear_that_is_computed_is_left_to_provide() -> None:
    given = {"operation": "clear", "sheetName": LIST, "documentId": "abcdefghijkl",
             "clear": "specificRows", "startIndex": "={{ $json.row }}"}  # fmt: skip

    found = chain(node("It", "googleSheets", given, 4.5))

    assert codes(found) == {"unfinished"}


def test_a_row_that_is_appended_or_updated_is_found_first() -> None:
    columns = COLUMNS | {"matchingColumns": ["Name"]}
    given = {"operation": "appendOrUpdate", "sheetName": LIST, "columns": columns,
             "documentId": {"__rl": True, "mode": "id", "value": "abcdefghijkl"}}  # fmt: skip
    named = {"googleSheetsOAuth2Api": {"name": "Our sheets"}}

    found = chain(node("It", "googleSheets", given, 4.5, credentials=named))

    first, task = tasks(found)["it_rows"], tasks(found)["it"]
    sheet = "https://sheets.googleapis.com/v4/spreadsheets/abcdefghijkl/values/%27Orders%27"
    assert (first["with"], first["credential"]) == ({"method": "GET", "url": sheet}, "our_sheets")
    rows = "tasks.it_rows.output.body.values"
    column = f'({rows} | map(attribute=1, default="") | list)'
    row = f'({column}.index(("Ann" | string)) + 1) if ("Ann" | string) in {column} else ({rows} | length) + 1'  # noqa: E501
    assert task["with"]["method"] == "PUT"
    assert task["with"]["url"] == f"{sheet}%21A" + "{{ " + row + " }}"
    assert task["with"]["json"] == {"values": [[None, "Ann", "rec1"]]}
    assert codes(found) == set()


def test_a_bots_token_is_a_secret_in_the_address() -> None:
    task = only("telegram", {"chatId": "5", "text": "Hi"}, 1.2)

    assert task["with"] == {
        "method": "POST",
        "url": "https://api.telegram.org/bot{{ secrets.telegram }}/sendMessage",
        "json": {"chat_id": "5", "text": "Hi"},
    }


def test_attachments_of_a_mail_by_outlook_are_reported() -> None:
    more = {"attachments": {"attachments": [{"binaryPropertyName": "data"}]}}
    given = {"toRecipients": "ann@example.com", "subject": "x", "additionalFields": more}

    found = chain(node("It", "microsoftOutlook", given, 2))

    assert any("attachments" in remark for remark in row(found, "It").remarks)
    assert "attachments" not in tasks(found)["it"]["with"]["json"]["message"]


def test_fields_are_read_where_the_service_puts_them() -> None:
    uses = {"values": {"string": [{"name": "a", "value": "={{ $json.Name }} {{ $json.id }}"}]}}
    found = chain(
        node("Get", "airtable", {"operation": "get", "id": "r", "base": "b", "table": "t"}, 2),
        node("Uses", "set", uses | {"keepOnlySet": True}),
    )

    assert tasks(found)["uses"]["with"]["values"]["a"] == (
        "{{ tasks.get.output.body.fields.Name }} {{ tasks.get.output.body.id }}"
    )


def test_rows_of_a_sheet_have_no_names() -> None:
    uses = {"values": {"string": [{"name": "a", "value": "={{ $json.Name }}"}]}}
    found = chain(
        node("Read", "googleSheets", {"documentId": "d", "sheetName": LIST}, 4.5),
        node("Uses", "set", uses | {"keepOnlySet": True}),
    )

    assert tasks(found)["read_items"]["with"]["items"] == "{{ tasks.read.output.body.values[1:] }}"
    assert codes(found) == {"unfinished"}
    assert any("a different format" in remark for remark in row(found, "Uses").remarks)


def test_gmail_sends_by_smtp_and_asks_for_the_sender() -> None:
    mail = {"sendTo": "a@example.com", "subject": "S", "message": "M"}
    found = chain(node("It", "gmail", mail, 2))

    assert tasks(found)["it"]["use"] == "email.send"
    assert tasks(found)["it"]["credential"] == "gmail_smtp"
    assert codes(found) == {"unfinished"}


@pytest.mark.parametrize(
    ("given", "to"),
    [
        ("a@example.com", ["a@example.com"]),
        ("={{ $json.mail }}", "{{ tasks.get.output.body.mail }}"),
        (
            "={{ $json.mail }}, a@example.com",
            ["{{ tasks.get.output.body.mail }}", "a@example.com"],
        ),
    ],
)
def test_recipients_are_split_outside_expressions(given: str, to: Any) -> None:
    found = chain(
        node("Get", "httpRequest", {"url": "https://a.example/"}, 4.2),
        node("It", "gmail", {"sendTo": given, "subject": "S", "message": "M"}, 2),
    )

    assert tasks(found)["it"]["with"]["to"] == to


@pytest.mark.parametrize(
    ("kind", "parameters", "use"),
    [
        ("extractFromFile", {}, "data.csv_parse"),
        ("extractFromFile", {"operation": "text"}, "flow.noop"),
        ("extractFromFile", {"operation": "fromJson"}, "flow.noop"),
        ("convertToFile", {}, "data.csv_write"),
        ("convertToFile", {"operation": "toJson"}, "data.template"),
        ("convertToFile", {"operation": "toText", "sourceProperty": "a"}, "flow.noop"),
        ("spreadsheetFile", {"operation": "toFile", "fileFormat": "csv"}, "data.csv_write"),
        ("readWriteFile", {"fileSelector": "/data/a.csv"}, "file.read"),
        ("writeBinaryFile", {"fileName": "/data/a.csv"}, "file.write"),
        ("renameKeys", {"keys": {"key": [{"currentKey": "a", "newKey": "b"}]}}, "flow.noop"),
    ],
)
def test_texts_stand_for_files(kind: str, parameters: Any, use: str) -> None:
    found = chain(
        node("Get", "httpRequest", {"url": "https://a.example/"}, 4.2), node("It", kind, parameters)
    )

    assert tasks(found)["it"]["use"] == use
    assert codes(found) == set()


@pytest.mark.parametrize(
    ("kind", "parameters", "says"),
    [
        ("extractFromFile", {"operation": "pdf"}, "format pdf"),
        ("googleSheets", {"operation": "remove"}, "sheet: remove"),
        ("telegram", {"operation": "sendAndWait"}, "message: sendAndWait"),
    ],
)
def test_what_is_no_single_request_is_left(kind: str, parameters: Any, says: str) -> None:
    found = chain(node("It", kind, parameters))

    assert tasks(found)["it"]["use"] == "n8n.placeholder"
    assert says in tasks(found)["it"]["with"]["reason"]
