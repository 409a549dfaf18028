"""The address of figures."""

from django.urls import path

from valkyr_plugins.figures.api import figures

urlpatterns = [
    path("v1/Figures", figures.FiguresOf.as_view()),
]
