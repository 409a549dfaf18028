"""The admin's page for changing a password is the replaced one."""

from django.contrib import admin
from django.urls import resolve, reverse

from valkyr_project.user_admin import password_change


def test_the_admin_serves_our_page() -> None:
    see = "the admin site has changed: see executions/vendor_seams/django_admin_password.py"

    served = resolve(reverse("admin:password_change")).func
    assert admin.site.password_change is password_change, see
    assert served.__wrapped__ is password_change, see  # type: ignore[attr-defined]
