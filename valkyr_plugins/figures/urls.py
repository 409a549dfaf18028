"""The URL of the endpoint that returns figures."""

from django.urls import path

from valkyr_plugins.figures import api

urlpatterns = [
    path("v1/Figures", api.FiguresOf.as_view(), name="valkyr-figures"),
]
