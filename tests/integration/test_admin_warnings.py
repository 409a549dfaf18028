"""The admin warns of templates that read undeclared outputs, on the pages and on publication."""

from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from executions.publishing.versioning import create_workflow
from tests.support.workflows import ACTOR, default_workspace

pytestmark = pytest.mark.django_db
MISREAD = {
    "schema": "valkyr/1",
    "name": "misread",
    "tasks": [
        {"id": "fetch", "use": "http.request", "with": {"url": "https://a.example"}},
        {
            "id": "keep",
            "use": "flow.noop",
            "after": "fetch",
            "with": {"value": "{{ tasks.fetch.output.boddy }}"},
        },
    ],
}


def test_publishing_tells_what_is_probably_a_mistake(admin_client: Client) -> None:
    workflow = create_workflow(default_workspace(), name="misread", definition=MISREAD, actor=ACTOR)
    address = reverse("admin:executions_workflow_operate_publish", args=[workflow.pk])

    answer: Any = admin_client.post(address, {"_form_submitted": "True", "reason": "try"})

    workflow.refresh_from_db()
    assert workflow.latest_version is not None
    told = [str(message) for message in get_messages(answer.wsgi_request)]
    assert any('no "boddy"' in text and 'did you mean "body"?' in text for text in told)
