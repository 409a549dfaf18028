"""The project's URLs."""

from django.contrib import admin
from django.urls import include, path
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.views import SpectacularAPIView
from rest_framework import serializers
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import JSONRenderer
from rest_framework.views import APIView


class Car(serializers.Serializer):
    colour = serializers.ChoiceField(["red", "blue"])


class Cars(APIView):
    schema = AutoSchema()
    serializer_class = Car
    versioning_class = None

    def get(self, request):
        raise NotImplementedError


class Document(SpectacularAPIView):
    schema = None
    renderer_classes = [JSONRenderer]
    content_negotiation_class = DefaultContentNegotiation
    versioning_class = None
    throttle_classes = []


admin.autodiscover()
urlpatterns = [
    path("office/", admin.site.urls),
    path("flows/", include("valkyr.urls")),
    path("cars", Cars.as_view()),
    path("document", Document.as_view()),
]
