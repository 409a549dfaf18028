"""The headers of a list are built once per page, not once per row."""

from typing import Any

import pytest
from django.test import Client
from unfold.templatetags import unfold_list

from tests.support import admin_rows as rows

pytestmark = pytest.mark.django_db


def test_headers_are_built_once_for_a_page(
    client: Client,
    django_user_model: Any,
    static_files: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    user = django_user_model.objects.create(username="op", is_staff=True, is_superuser=True)
    client.force_login(user)
    workflow = rows.workflow()
    for _ in range(5):
        rows.execution(workflow, "FAILED", error_message="it failed")
    named: list[str] = []
    name_of = unfold_list.label_for_field

    def counted(name: str, *args: Any, **kwargs: Any) -> Any:
        named.append(name)
        return name_of(name, *args, **kwargs)

    monkeypatch.setattr(unfold_list, "label_for_field", counted)

    answer = client.get("/admin/executions/workflowexecution/")

    changelist = answer.context["cl"]
    assert len(changelist.result_list) == 5
    assert named == list(changelist.list_display), (
        "Unfold builds its headers otherwise: see executions/vendor_seams/unfold_list_headers.py"
    )
