"""The OpenAPI document and the page that shows it; no inline script, nothing from elsewhere."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import View
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.views import SpectacularAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import JSONRenderer

from executions.api.problems import problem


class OpenApiDocument(SpectacularAPIView):
    """The API's description: OpenAPI 3.1."""

    permission_classes: Any = [IsAuthenticated]
    renderer_classes: Any = [OpenApiJsonRenderer, OpenApiYamlRenderer, JSONRenderer]


class Docs(View):
    """The description for people, with every operation to try."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page; who is not signed in gets a 401 with the way to sign in."""
        if request.user.is_authenticated:
            return render(request, "executions/docs.html")
        if request.accepts("text/html"):
            return render(request, "executions/docs_sign_in.html", status=401)
        return problem(401, "Sign in to read the documentation.", code="not_authenticated")
