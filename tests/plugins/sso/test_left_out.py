"""An installation without the plugin has passwords, and no single sign-on."""

from tests.support.left_out import run_without

PROGRAM = """
import sys
import django
django.setup()
from django.conf import settings
from django.test import Client
client = Client(SERVER_NAME="localhost")
print(client.get("/sso/begin").status_code)
page = client.get("/admin/login/")
print(page.status_code, b'name="password"' in page.content, b"/sso/" in page.content)
print(*settings.AUTHENTICATION_BACKENDS)
print(sorted({name.partition(".")[0] for name in sys.modules} & {"allauth"}))
print([name for name in sys.modules if name.startswith("valkyr_plugins.sso")])
"""


def test_left_out_it_adds_no_address_no_button_and_no_import() -> None:
    done = run_without(PROGRAM, "connectors", VALKYR_OIDC_ISSUER="https://id.example.org")

    assert done.stdout.splitlines() == [
        "404",
        "200 True False",
        "django.contrib.auth.backends.ModelBackend",
        "[]",
        "[]",
    ], done.stderr


def test_passwords_that_are_off_are_not_turned_on_by_leaving_it_out() -> None:
    done = run_without("import django; django.setup()", "connectors", VALKYR_OIDC_ONLY="1")

    assert done.returncode != 0
    assert "VALKYR_PLUGINS lacks 'sso'" in done.stderr
