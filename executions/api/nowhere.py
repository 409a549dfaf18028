"""Addresses of the API that do not exist: 401 for strangers, 404 for everybody else."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from executions.api.endpoint import Endpoint


@extend_schema(exclude=True)
class Nowhere(Endpoint):
    """Signed in or not decides first: nobody learns from outside which addresses exist."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Sign-in, then nothing, whatever the method."""
        super().initial(request, *args, **kwargs)
        raise Http404
