"""The responses of the project's own API."""

from rest_framework.renderers import BaseRenderer
from rest_framework.response import Response


class Shouting(BaseRenderer):
    media_type = "application/json"
    format = "json"

    def render(self, data, accepted_media_type=None, renderer_context=None):
        return b'"OURS"'


def handler(exc, context):
    return Response({"ours": str(exc)}, status=418)
