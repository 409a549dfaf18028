"""The Django request behind a REST framework request."""

from django.test import RequestFactory
from rest_framework.request import Request

from executions.vendor_seams.rest_framework_requests import django_request


def test_it_is_the_request_that_django_made() -> None:
    made = RequestFactory().post("/", b"raw", content_type="text/plain")

    found = django_request(Request(made))

    see = "REST framework has changed: see executions/vendor_seams/rest_framework_requests.py"
    assert found is made, see
    assert found.body == b"raw", see
