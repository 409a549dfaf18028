"""The compressed responses: pages, and files that browsers cache, but no JSON that can contain
secrets.
"""

import gzip
import re
from typing import Any

import pytest
from django.test import Client

from tests.support import admin_rows as rows

pytestmark = pytest.mark.django_db
ACCEPTS = {"Accept-Encoding": "gzip, br"}


@pytest.fixture
def operator(client: Client, django_user_model: Any) -> Client:
    client.force_login(django_user_model.objects.create_superuser("op"))
    return client


@pytest.mark.parametrize(
    "address", ["/admin/", "/admin/jsi18n/", "/v1/ModuleType", "/v1/WorkflowTemplate", "/docs"]
)
def test_pages_and_lists_that_browsers_keep_are_compressed(operator: Client, address: str) -> None:
    packed = operator.get(address, headers=ACCEPTS)

    assert packed["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in packed["Vary"]
    assert int(packed["Content-Length"]) == len(packed.content)
    assert "Content-Encoding" not in operator.get(address)
    assert len(gzip.decompress(packed.content)) > len(packed.content)


def test_other_json_and_streams_are_not_compressed(operator: Client) -> None:
    execution = rows.execution(rows.workflow())

    for address in ("/v1/Workflow", f"/v1/WorkflowExecution/{execution.pk}"):
        answer = operator.get(address, headers=ACCEPTS)
        assert (answer.status_code, "Content-Encoding" in answer) == (200, False)
        assert len(answer.content) > 200


def test_the_results_of_a_search_are_not_compressed(operator: Client) -> None:
    """The results of a search are not compressed: an attacker could choose the search, and compare
    the lengths of the results (BREACH).
    """
    for number in range(5):
        rows.workflow(f"order-import-{number}")

    answer = operator.get("/admin/executions/workflow/search/?q=order", headers=ACCEPTS)

    assert answer["Content-Type"] == "application/json"
    assert "Content-Encoding" not in answer
    assert len(answer.content) > 200


def test_neither_the_length_nor_a_token_of_a_compressed_page_repeats(operator: Client) -> None:
    """The length and the token of a compressed page do not repeat: an attacker who compares lengths
    (BREACH) finds them random, and the token masked.
    """
    pages = [operator.get("/admin/executions/workflow/add/", headers=ACCEPTS) for _ in range(20)]

    tokens = {
        re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', gzip.decompress(page.content))[1]  # type: ignore[index]
        for page in pages
    }
    assert len(tokens) == len(pages)
    assert len({len(page.content) for page in pages}) > 5
