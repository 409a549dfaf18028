"""The URL of the endpoint that imports n8n workflows."""

from django.urls import path

from valkyr_plugins.n8n.api import ImportN8n

urlpatterns = [
    path("v1/Workflow/import-n8n", ImportN8n.as_view(), name="valkyr-workflow-import-n8n")
]
