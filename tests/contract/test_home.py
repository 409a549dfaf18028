from rest_framework.test import APIClient


def test_the_bare_address_leads_to_the_admin() -> None:
    answer = APIClient().get("/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/admin/")
