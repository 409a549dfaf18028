"""Services for tasks, tickets and sales: Todoist, Jira, Trello, Asana, Zendesk and others."""

from typing import Any

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.services.calls import Service, ServiceCall, always
from valkyr_plugins.n8n.services.tables import SITE, by_id, crud, sent
from valkyr_plugins.n8n.services.values import limit

_TODOIST = "https://api.todoist.com/api/v1/tasks"
_TASK = {"project": "project_id", "section": "section_id", "description": "description"}
TODOIST = Service(
    "Todoist",
    "https://developer.todoist.com/api/v1",
    {
        **crud(
            "task", _TODOIST, "taskId",
            sent("content", "project?", "labels?", places=("options",), snaked=True, rename=_TASK),
            sent(places=("updateFields",), snaked=True, rename=_TASK),
            change="POST", items="results",
            search={"project_id": "$filters.projectId?", "label": "$filters.labelId?"},
        ),
        "task: close": ServiceCall("POST", f"{_TODOIST}/{{taskId}}/close"),
        "task: reopen": ServiceCall("POST", f"{_TODOIST}/{{taskId}}/reopen"),
        **crud("project", "https://api.todoist.com/api/v1/projects", "projectId", sent("name"),
               items="results"),
    },
    always("task"),
    {"task": "create", "project": "create"},
    "the account's API token",
)  # fmt: skip

# Jira.

_ISSUE = f"{SITE}/rest/api/2/issue"


def _issue(work: NodeWork) -> Any:
    """Return an issue's fields; some parameters of n8n become objects with an ID."""
    plain = sent(
        "summary?",
        rename=dict.fromkeys(
            ("customFieldsUi", "assignee", "priority", "parentIssueKey", "reporter", "parentIssue",
             "issueType", "components", "fixVersions", "statusId", "updateHistory"), "",
        ),
    )  # fmt: skip
    found = plain(work) if work.get("summary") or _more(work) else {}
    found = found if isinstance(found, dict) else {}
    if work.word("operation", "create") == "create":
        found["project"] = {"id": by_id("project")(work)}
        found["issuetype"] = {"id": by_id("issueType")(work)}
    for name, key in (("assignee", "accountId"), ("reporter", "accountId"), ("priority", "id")):
        for place in ("additionalFields", "updateFields"):
            if work.get(f"{place}.{name}"):
                found[name] = {key: by_id(f"{place}.{name}")(work)}
    if work.get("updateFields.statusId"):
        work.remark("Its status changes by a request of its own: POST /issue/{key}/transitions.")
    return {"fields": found}


def _more(work: NodeWork) -> bool:
    return any(work.get(place) for place in ("additionalFields", "updateFields"))


JIRA = Service(
    "Jira",
    "https://developer.atlassian.com/cloud/jira/platform/rest/v2",
    {
        **crud("issue", _ISSUE, "issueKey", _issue, _issue),
        "issue: getAll": ServiceCall(
            "GET", f"{SITE}/rest/api/3/search/jql",
            {"jql": "$options.jql?", "maxResults": limit(50), "fields": "$options.fields?"},
            items="issues",
        ),
        "issue: transitions": ServiceCall("GET", f"{_ISSUE}/{{issueKey}}/transitions"),
        "issue: changelog": ServiceCall(
            "GET", f"{_ISSUE}/{{issueKey}}/changelog", items="values"
        ),
        "issueComment: add": ServiceCall(
            "POST", f"{_ISSUE}/{{issueKey}}/comment", json={"body": "$comment"}
        ),
        "issueComment: getAll": ServiceCall(
            "GET", f"{_ISSUE}/{{issueKey}}/comment", {"maxResults": limit(50)}, items="comments"
        ),
        "issueComment: get": ServiceCall("GET", f"{_ISSUE}/{{issueKey}}/comment/{{commentId}}"),
        "issueComment: remove": ServiceCall(
            "DELETE", f"{_ISSUE}/{{issueKey}}/comment/{{commentId}}"
        ),
        "issueAttachment: getAll": ServiceCall(
            "GET", f"{_ISSUE}/{{issueKey}}", {"fields": "attachment"}, items="fields.attachment",
            remark="The attachments are in fields.attachment of the issue.",
        ),
        "user: get": ServiceCall("GET", f"{SITE}/rest/api/2/user", {"accountId": "$accountId"}),
    },
    always("issue"),
    {"issue": "create", "issueComment": "add", "issueAttachment": "add", "user": "create"},
    "the account's address as the name, and an API token as the password",
    "basic",
)  # fmt: skip

_TRELLO = "https://api.trello.com/1"
TRELLO = Service(
    "Trello",
    "https://developer.atlassian.com/cloud/trello/rest",
    {
        **crud("card", f"{_TRELLO}/cards", "id|cardId",
               sent("listId", "name", "description?", rename={"listId": "idList",
                                                              "description": "desc"}),
               sent(rename={"description": "desc"})),
        "cardComment: create": ServiceCall(
            "POST", f"{_TRELLO}/cards/{{cardId}}/actions/comments", {"text": "$text"}
        ),
        **crud("list", f"{_TRELLO}/lists", "id", sent("idBoard", "name"), sent()),
        "list: getAll": ServiceCall("GET", f"{_TRELLO}/boards/{{id}}/lists", items="."),
        "list: getCards": ServiceCall("GET", f"{_TRELLO}/lists/{{id}}/cards", items="."),
        **crud("board", f"{_TRELLO}/boards", "id", sent("name", "description?",
                                                        rename={"description": "desc"}), sent()),
        "checklist: create": ServiceCall(
            "POST", f"{_TRELLO}/checklists", json={"idCard": "$cardId", "name": "$name"}
        ),
    },
    always("card"),
    {"card": "create", "cardComment": "create", "list": "create", "board": "create"},
    'the text OAuth oauth_consumer_key="<key>", oauth_token="<token>"',
    "secret",
    {"Authorization": "{secret}"},
)  # fmt: skip

_ASANA = "https://app.asana.com/api/1.0"
ASANA = Service(
    "Asana",
    "https://developers.asana.com/reference/rest-api-reference",
    {
        **crud("task", f"{_ASANA}/tasks", "id", sent("workspace?", "name", under="data"),
               sent("name?", under="data"), items="data", result="data",
               search={"project": "$filters.project|project?", "section": "$filters.section?",
                       "assignee": "$filters.assignee?", "workspace": "$filters.workspace?"}),
        "task: search": ServiceCall(
            "GET", f"{_ASANA}/workspaces/{{workspace}}/tasks/search",
            {"text": "$searchTaskProperties.text?",
             "completed": "$searchTaskProperties.completed?"},
            items="data",
        ),
        "subtask: create": ServiceCall(
            "POST", f"{_ASANA}/tasks/{{taskId}}/subtasks", json=sent("name", under="data")
        ),
        "taskComment: add": ServiceCall(
            "POST", f"{_ASANA}/tasks/{{id}}/stories", json={"data": {"text": "$text"}}
        ),
        **crud("project", f"{_ASANA}/projects", "id", sent("name", "workspace?", under="data"),
               sent("name?", under="data"), items="data", result="data",
               search={"workspace": "$workspace?"}),
    },
    always("task"),
    {"task": "create", "subtask": "create", "taskComment": "add", "project": "create"},
    "a personal access token",
)  # fmt: skip

_CLICKUP = "https://api.clickup.com/api/v2"
_CLICKED = {"dueDate": "due_date", "startDate": "start_date", "parentId": "parent",
            "customFieldsJson": ""}  # fmt: skip
CLICKUP = Service(
    "ClickUp",
    "https://developer.clickup.com/reference",
    {
        "task: create": ServiceCall("POST", f"{_CLICKUP}/list/{{list}}/task",
                                    json=sent("name", snaked=True, rename=_CLICKED)),
        "task: get": ServiceCall("GET", f"{_CLICKUP}/task/{{id}}"),
        "task: getAll": ServiceCall("GET", f"{_CLICKUP}/list/{{list}}/task", items="tasks"),
        "task: update": ServiceCall("PUT", f"{_CLICKUP}/task/{{id}}",
                                    json=sent(snaked=True, rename=_CLICKED)),
        "task: delete": ServiceCall("DELETE", f"{_CLICKUP}/task/{{id}}"),
        "comment: create": ServiceCall("POST", f"{_CLICKUP}/task/{{id}}/comment",
                                       json={"comment_text": "$commentText"}),
        "list: getAll": ServiceCall("GET", f"{_CLICKUP}/folder/{{folder}}/list", items="lists"),
    },
    always("task"),
    {"task": "create", "comment": "create"},
    "the API token",
    "secret",
    {"Authorization": "{secret}"},
)  # fmt: skip

# Zendesk.


def _ticket(work: NodeWork) -> Any:
    rename = {"externalId": "external_id", "recipient": "recipient", "customFieldsUi": "",
              "internalNote": "", "publicReply": "", "assigneeEmail": "assignee_email"}  # fmt: skip
    found = sent("description?", rename=rename)(work)
    found = dict(found) if isinstance(found, dict) else {}
    text = found.pop("description", None)
    note, reply = work.get("updateFields.internalNote"), work.get("updateFields.publicReply")
    if text is not None:
        found["comment"] = {"body": text}
    if note or reply:
        found["comment"] = {"body": work.value(reply or note), "public": bool(reply)}
    return {"ticket": found}


def _zendesk(one: str, many: str, create: Any, update: Any) -> dict[str, ServiceCall]:
    return crud(one, f"{SITE}/api/v2/{many}", "id", create, update, page="page[size]",
                items=many, result=one)  # fmt: skip


ZENDESK = Service(
    "Zendesk",
    "https://developer.zendesk.com/api-reference",
    {
        **_zendesk("ticket", "tickets", _ticket, _ticket),
        **_zendesk("user", "users", sent("name", under="user", snaked=True),
                   sent(under="user", snaked=True)),
        **_zendesk("organization", "organizations", sent("name", under="organization", snaked=True),
                   sent(under="organization", snaked=True)),
    },
    always("ticket"),
    {"ticket": "create", "user": "create", "organization": "create"},
    "the address with /token after it as the name, and an API token as the password",
    "basic",
)  # fmt: skip

# Pipedrive.

_PIPEDRIVE = "https://api.pipedrive.com/v1"


def _piped(one: str, many: str, *own: str, key: str = "") -> dict[str, ServiceCall]:
    rename = {"orgId": "org_id", "personId": "person_id", "associateWith": "",
              "customProperties": "", "organizationId": "organization_id"}  # fmt: skip
    url = f"{_PIPEDRIVE}/{many}"
    found = crud(one, url, key or f"{one}Id", sent(*own, rename=rename), sent(rename=rename),
                 items="data", result="data")  # fmt: skip
    found[f"{one}: search"] = ServiceCall(
        "GET", f"{url}/search",
        {"term": "$term", "limit": limit(50), "exact_match": "$exactMatch?"},
        items="data.items", remark="A result's object is in its `item`.",
    )  # fmt: skip
    return found


PIPEDRIVE = Service(
    "Pipedrive",
    "https://developers.pipedrive.com/docs/api/v1",
    {
        **_piped("deal", "deals", "title", "person_id?", "org_id?"),
        **_piped("person", "persons", "name"),
        **_piped("organization", "organizations", "name"),
        **_piped("note", "notes", "content"),
        **_piped("lead", "leads", "title", "personId?", "organizationId?"),
        **_piped("activity", "activities", "subject", "type?", "done?"),
        **_piped("product", "products", "name"),
    },
    always("deal"),
    dict.fromkeys(
        ("deal", "person", "organization", "note", "lead", "activity", "product"), "create"
    ),
    "the API token",
    "secret",
    {"x-api-token": "{secret}"},
)  # fmt: skip

# n8n's own API, GitLab, Salesforce, monday.com.

_N8N = f"{SITE}/api/v1"
N8N = Service(
    "n8n",
    "https://docs.n8n.io/api",
    {
        **crud("workflow", f"{_N8N}/workflows", "workflowId",
               lambda work: _json(work, "workflowObject"),
               lambda work: _json(work, "workflowObject"),
               items="data", search={"active": "$filters.activeWorkflows?",
                                     "tags": "$filters.tags?"}),
        "workflow: activate": ServiceCall("POST", f"{_N8N}/workflows/{{workflowId}}/activate"),
        "workflow: deactivate": ServiceCall("POST", f"{_N8N}/workflows/{{workflowId}}/deactivate"),
        **crud("execution", f"{_N8N}/executions", "executionId", items="data",
               search={"workflowId": "$filters.workflowId?", "status": "$filters.status?"}),
    },
    always("workflow"),
    {"workflow": "getAll", "execution": "getAll"},
    "an API key of n8n, whose workflows it works on",
    "secret",
    {"X-N8N-API-KEY": "{secret}"},
)  # fmt: skip


def _json(work: NodeWork, key: str) -> Any:
    raw = work.get(key)
    try:
        return work.texts.json_text(raw) if isinstance(raw, str) and raw else by_id(key)(work)
    except (ValueError, RecursionError):
        return work.value(raw)


_GITLAB = "https://gitlab.com/api/v4/projects/{owner}%2F{repository}"
_FILE = {"branch": "$branch", "commit_message": "$commitMessage", "content": "$fileContent"}
GITLAB = Service(
    "GitLab",
    "https://docs.gitlab.com/api/rest",
    {
        "file: get": ServiceCall(
            "GET", f"{_GITLAB}/repository/files/{{filePath}}",
            {"ref": "$additionalParameters.reference?"},
            remark="The content is in output.body.content, as Base64.",
        ),
        "file: create": ServiceCall("POST", f"{_GITLAB}/repository/files/{{filePath}}", json=_FILE),
        "file: edit": ServiceCall("PUT", f"{_GITLAB}/repository/files/{{filePath}}", json=_FILE),
        "file: list": ServiceCall("GET", f"{_GITLAB}/repository/tree", {"path": "$filePath?"},
                                  items="."),
        "issue: create": ServiceCall("POST", f"{_GITLAB}/issues",
                                     json={"title": "$title", "description": "$body?"}),
        "issue: createComment": ServiceCall("POST", f"{_GITLAB}/issues/{{issueNumber}}/notes",
                                            json={"body": "$body"}),
        "issue: get": ServiceCall("GET", f"{_GITLAB}/issues/{{issueNumber}}"),
        "repository: get": ServiceCall("GET", _GITLAB),
        "repository: getIssues": ServiceCall("GET", f"{_GITLAB}/issues", {"per_page": limit(50)},
                                             items="."),
    },
    always("issue"),
    {"issue": "create", "file": "create", "repository": "getIssues"},
    "a token with the scope api",
)  # fmt: skip

_SALESFORCE = f"{SITE}/services/data/v61.0"
_OBJECTS = {"account": "Account", "contact": "Contact", "lead": "Lead",
            "opportunity": "Opportunity", "case": "Case", "task": "Task"}  # fmt: skip


def _capitals(*own: str) -> Any:
    def made(work: NodeWork) -> Any:
        found = sent(*own)(work)
        if not isinstance(found, dict):
            return found
        work.remark("The fields have Salesforce's names: see whether each is one.")
        return {name[:1].upper() + name[1:]: value for name, value in found.items()}

    return made


SALESFORCE = Service(
    "Salesforce",
    "https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest",
    {
        **{
            name: call
            for one, object_ in _OBJECTS.items()
            for name, call in crud(
                one, f"{_SALESFORCE}/sobjects/{object_}", f"{one}Id",
                _capitals("name?", "lastname?", "company?"), _capitals(), change="PATCH",
            ).items()
            if not name.endswith("getAll")
        },
        "search: query": ServiceCall(
            "GET", f"{_SALESFORCE}/query", {"q": "$query"}, items="records"
        ),
    },
    always("lead"),
    {"search": "query", **dict.fromkeys(_OBJECTS, "create")},
    "a token; the variable is the address of the instance",
)  # fmt: skip
