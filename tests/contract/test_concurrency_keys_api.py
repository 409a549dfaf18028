"""A concurrency key as callers see it: shown, and rejected by name."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.support.workflows import publish, task

pytestmark = pytest.mark.django_db


def keyed(on_conflict: str) -> Any:
    rule = {"key": "{{ input.customer }}", "onConflict": on_conflict}
    return publish({"settings": {"concurrency": rule}, "tasks": [task("one")]})


def execute(client: APIClient, workflow: Any, params: Any) -> Any:
    path = f"/v1/WorkflowExecution/{workflow.pk}/execute"
    return client.post(path, {"params": params}, format="json")


def test_one_too_many_is_a_409_that_names_the_holder(author: APIClient) -> None:
    workflow = keyed("reject")
    first = execute(author, workflow, {"customer": "ada"})
    assert (first.status_code, first.json()["concurrencyKey"]) == (202, "ada")

    refused = execute(author, workflow, {"customer": "ada"})

    assert refused.status_code == 409
    assert refused.json()["code"] == "concurrency_conflict"
    assert refused.json()["holderId"] == first.json()["id"]
    assert execute(author, workflow, {"customer": "bob"}).status_code == 202


def test_one_that_must_wait_is_accepted_pending(author: APIClient) -> None:
    workflow = keyed("queue")
    execute(author, workflow, {"customer": "ada"})
    assert execute(author, workflow, {"customer": "ada"}).json()["state"] == "PENDING"


def test_a_payload_that_gives_no_key_is_a_422_that_names_it(author: APIClient) -> None:
    refused = execute(author, keyed("queue"), {})
    assert refused.status_code == 422
    [problem] = refused.json()["errors"]
    assert (problem["path"], problem["code"]) == ("params", "concurrency_key")
    assert "customer" in problem["message"]
