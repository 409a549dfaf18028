"""Services that keep rows, pages and products, and those that look something up."""

import re
from typing import Any

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.secrecy import without_secrets
from valkyr_plugins.n8n.services.calls import Service, ServiceCall, always
from valkyr_plugins.n8n.services.tables import SITE, by_id, columns, crud, sent
from valkyr_plugins.n8n.services.values import filled, limit, missing

_REST = f"{SITE}/rest/v1/{{tableId}}"
_BACK = {"Prefer": "return=representation"}
_SIGNS = ("eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "is")


def _rows(work: NodeWork) -> Any:
    """Return the conditions as PostgREST's parameters, with the number of rows."""
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

# WordPress, WooCommerce, Shopify, Strapi, Webflow.

_WORDPRESS = f"{SITE}/wp-json/wp/v2"
_POST = {"postTemplate": "", "commentStatus": "comment_status", "pingStatus": "ping_status",
         "authorId": "author"}  # fmt: skip
WORDPRESS = Service(
    "WordPress",
    "https://developer.wordpress.org/rest-api",
    {
        **crud("post", f"{_WORDPRESS}/posts", "postId", sent("title", rename=_POST),
               sent(rename=_POST), change="POST", page="per_page",
               search={"search": "$options.search?", "status": "$options.status?",
                       "categories": "$options.categories?"}),
        **crud("page", f"{_WORDPRESS}/pages", "pageId", sent("title", rename=_POST),
               sent(rename=_POST), change="POST", page="per_page"),
        **crud("user", f"{_WORDPRESS}/users", "userId", sent("username", "email", "password"),
               sent(), change="POST", page="per_page"),
    },
    always("post"),
    {"post": "create", "page": "create", "user": "create"},
    "the user's name and an application password; the variable is the site's address",
    "basic",
)  # fmt: skip

_WOO = f"{SITE}/wp-json/wc/v3"
WOOCOMMERCE = Service(
    "WooCommerce",
    "https://woocommerce.github.io/woocommerce-rest-api-docs",
    {
        **crud("product", f"{_WOO}/products", "productId", sent("name", snaked=True),
               sent(snaked=True), page="per_page"),
        **crud("order", f"{_WOO}/orders", "orderId", sent(snaked=True), sent(snaked=True),
               page="per_page", search={"status": "$options.status?"}),
        **crud("customer", f"{_WOO}/customers", "customerId", sent("email", snaked=True),
               sent(snaked=True), page="per_page", search={"email": "$filters.email?"}),
    },
    always("product"),
    {"product": "create", "order": "create", "customer": "create"},
    "the consumer key and secret; the variable is the shop's address",
    "basic",
)  # fmt: skip

_SHOPIFY = f"{SITE}/admin/api/2025-07"
SHOPIFY = Service(
    "Shopify",
    "https://shopify.dev/docs/api/admin-rest",
    {
        **crud("product", f"{_SHOPIFY}/products", "productId",
               sent("title", under="product", snaked=True), sent(under="product", snaked=True),
               items="products", result="product", ending=".json"),
        **crud("order", f"{_SHOPIFY}/orders", "orderId", sent(under="order", snaked=True),
               sent(under="order", snaked=True), items="orders", result="order", ending=".json",
               search={"status": "$options.status?"}),
    },
    always("order"),
    {"order": "create", "product": "create"},
    "the app's access token; the variable is https://<shop>.myshopify.com",
    "secret",
    {"X-Shopify-Access-Token": "{secret}"},
)  # fmt: skip


def _entry(work: NodeWork) -> Any:
    named = str(work.get("columns", "")) if isinstance(work.get("columns"), str) else ""
    names = [name.strip() for name in named.split(",") if name.strip()]
    known = [name for name in names if re.fullmatch(r"[A-Za-z_]\w{0,60}", name)]
    known = [name for name in known if without_secrets(name) == name]
    found = {name: work.value("={{ $json." + name + " }}") for name in known}
    return {"data": found or missing(work, "the fields")}


STRAPI = Service(
    "Strapi",
    "https://docs.strapi.io/cms/api/rest",
    crud("entry", f"{SITE}/api/{{contentType}}", "entryId", _entry, _entry, items="data",
         result="data", page="pagination[pageSize]"),
    always("entry"),
    {"entry": "create"},
    "an API token; the variable is the server's address",
)  # fmt: skip

_WEBFLOW = "https://api.webflow.com/v2/collections/{collectionId}/items"


def _item(work: NodeWork) -> Any:
    return {"isDraft": work.get("live") is not True,
            "fieldData": columns("fieldsUi.fieldValues")(work)}  # fmt: skip


WEBFLOW = Service(
    "Webflow",
    "https://developers.webflow.com/data/reference",
    crud("item", _WEBFLOW, "itemId", _item, _item, change="PATCH", items="items"),
    always("item"),
    {"item": "get"},
    "a token with the scope cms:write",
)  # fmt: skip

# Lists of addresses.

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

# Look-ups.


def _where(work: NodeWork) -> dict[str, Any]:
    how = work.word("locationSelection", "cityName")
    found: dict[str, Any] = {"units": work.word("format", "metric")}
    match how:
        case "cityId":
            return found | {"id": filled(work, "$cityId")}
        case "coordinates":
            return found | {"lat": filled(work, "$latitude"), "lon": filled(work, "$longitude")}
        case "zipCode":
            return found | {"zip": filled(work, "$zipCode")}
        case _:
            return found | {"q": filled(work, "$cityName")}


_WEATHER = "https://api.openweathermap.org/data/2.5"
OPENWEATHERMAP = Service(
    "OpenWeatherMap",
    "https://openweathermap.org/api",
    {
        f"weather: {operation}": ServiceCall("GET", f"{_WEATHER}/{path}?appid={{secret}}", _where)
        for operation, path in (("currentWeather", "weather"), ("5DayForecast", "forecast"))
    },
    always("weather"),
    {"weather": "currentWeather"},
    "the API key",
    "secret",
)  # fmt: skip

_HUNTER = "https://api.hunter.io/v2"
HUNTER = Service(
    "Hunter",
    "https://hunter.io/api-documentation/v2",
    {
        "search: domainSearch": ServiceCall(
            "GET", f"{_HUNTER}/domain-search?api_key={{secret}}",
            {"domain": "$domain", "limit": limit(100)}, items="data.emails",
        ),
        "search: emailFinder": ServiceCall(
            "GET", f"{_HUNTER}/email-finder?api_key={{secret}}",
            {"domain": "$domain", "first_name": "$firstname", "last_name": "$lastname"},
            result="data",
        ),
        "search: emailVerifier": ServiceCall(
            "GET", f"{_HUNTER}/email-verifier?api_key={{secret}}", {"email": "$email"},
            result="data",
        ),
    },
    always("search"),
    {"search": "domainSearch"},
    "the API key",
    "secret",
)  # fmt: skip

HACKERNEWS = Service(
    "Hacker News",
    "https://hn.algolia.com/api",
    {
        "all: getAll": ServiceCall(
            "GET", "https://hn.algolia.com/api/v1/search",
            {"query": "$additionalFields.keyword?", "hitsPerPage": limit(100)}, items="hits",
        ),
        "article: get": ServiceCall("GET", "https://hn.algolia.com/api/v1/items/{articleId}"),
        "user: get": ServiceCall("GET", "https://hn.algolia.com/api/v1/users/{username}"),
    },
    always("article"),
    {"article": "get", "all": "getAll", "user": "get"},
    "",
    "",
)  # fmt: skip

DEEPL = Service(
    "DeepL",
    "https://developers.deepl.com/docs",
    {
        "language: translate": ServiceCall(
            "POST", f"{SITE}/v2/translate",
            json={"text": ["$text"], "target_lang": "$translateTo",
                  "source_lang": "$additionalFields.sourceLang?"},
            items="translations",
        ),
    },
    always("language"),
    {"language": "translate"},
    "the key; the variable is https://api.deepl.com or https://api-free.deepl.com",
    "secret",
    {"Authorization": "DeepL-Auth-Key {secret}"},
)  # fmt: skip

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
