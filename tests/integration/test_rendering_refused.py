"""In a project without Valkyr's middleware, no request renders a tenant's template."""

from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from rest_framework.response import Response

from executions.api.me import Me
from executions.definition.templating.render_guard import renders_here
from executions.models import Workflow
from tests.contract.people import a_client, a_member

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _django_s_middleware(settings: Any) -> None:
    settings.MIDDLEWARE = [
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ]


def test_an_operation_renders_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []

    def get(self: Any, request: Any) -> Response:
        told.append(renders_here())
        return Response()

    monkeypatch.setattr(Me, "get", get)

    assert a_client(a_member("ADMIN")).get("/v1/Me").status_code == 200
    assert told == [False]


def test_a_page_of_the_admin_renders_nothing(
    monkeypatch: pytest.MonkeyPatch, client: Client, django_user_model: Any, static_files: None
) -> None:
    told = []

    page = type(admin.site.get_model_admin(Workflow))
    asked = page.get_queryset

    def get_queryset(self: Any, request: Any) -> Any:
        told.append(renders_here())
        return asked(self, request)

    monkeypatch.setattr(page, "get_queryset", get_queryset)
    client.force_login(django_user_model.objects.create_superuser("op"))

    assert client.get("/admin/executions/workflow/").status_code == 200
    assert told[0] is False
