"""The prose of the OpenAPI document: what holds everywhere, and what each group is about."""

INTRODUCTION = """\
Durable workflows on Django and Celery: author and publish workflows, start them, follow and operate
what runs, and mend what failed.

**Signing in.** `Authorization: Bearer …` with an API token (`createApiToken`) or with the access
token that a name and a password give (`obtainToken`); or the admin's session cookie, with Django's
CSRF token for what changes something.

**Errors** are `application/problem+json` (RFC 9457) with a stable `code`; for what does not fit,
`errors` names every mistake with its path.

**Lists** are arrays of `limit` rows (50; at most 500), newest first. The next page is the address
in the `Link` header with `rel="next"`; its `cursor` is nothing to build oneself.

**Asking again.** Operations with an `Idempotency-Key` do nothing twice for one key. Drafts carry an
`ETag`; sent back as `If-Match`, a change is refused (412) when somebody else was faster.

**Limits** answer with 429 and `Retry-After`.
"""

TAGS = {
    "Token": "Access tokens for a user name and a password, and signing out.",
    "Session": "Where the caller is signed in.",
    "Me": "Who calls, and what the caller may do.",
    "Workflow": "Definitions: a draft that people edit, and the immutable versions made of it.",
    "ModuleType": "What steps can do, and the JSON Schemas of definitions.",
    "WorkflowExecution": "Starting executions, following them, operating them, going back in them.",
    "Queue": "Starting an execution by the queue's names.",
    "Run": "Attempts of steps; what remote runners do with them; approvals.",
    "DeadLetterQueue": "Steps that failed for good, and what operators decide about them.",
    "FailureGroup": "Failures that are the same: how often, since when, what people make of them.",
    "Trigger": "What starts workflows by itself: schedules, events, webhooks, queues.",
    "Event": "Things that happened outside, told once.",
    "Webhook": "Starting a workflow from outside, with an authentication of its own.",
    "Callback": "Letting a waiting step go on, by an address that it gave away.",
    "Credential": "Secrets that steps use; they are never shown again.",
    "Workspace": "Tenants, their limits and who belongs to them.",
    "Tier": "What a workspace may use.",
    "Membership": "Who may do what in a workspace.",
    "ServiceAccount": "Programs of a workspace.",
    "ApiToken": "Keys for programs, for one workspace and some scopes.",
    "Runner": "The worker processes, ours and remote ones.",
    "Activity": "The audit trail: who did what, when, from where and why.",
    "Health": "For load balancers; open to everybody.",
}

SCHEMES = {
    "jwtAuth": {"description": "The `access` of `obtainToken`; it lasts 30 minutes."},
    "cookieAuth": {
        "description": "The admin's session. What changes something needs Django's CSRF token in "
        "`X-CSRFToken` as well."
    },
}
