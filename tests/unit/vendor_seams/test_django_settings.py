"""Django uses settings that are read again, and opens connections with them."""

import os
import subprocess
import sys

from tests.support.stack import PROJECT

READ = """
import os
import django
django.setup()
from django.db import connections
before = connections["default"]
os.environ |= {"VALKYR_PROCESS": "web", "VALKYR_POOL": "threads"}
from executions.vendor_seams.django_settings import read_again
read_again()
for connection in (before, connections["default"]):
    options = connection.settings_dict["OPTIONS"]
    print(options["application_name"], "pool" in options, connection.settings_dict["TIME_ZONE"])
"""


def test_a_connection_is_made_by_the_settings_that_were_read_last() -> None:
    names = ("VALKYR_PROCESS", "VALKYR_POOL")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment |= {
        "DJANGO_SETTINGS_MODULE": "valkyr_project.settings",
        "VALKYR_SECRET_KEY": "check-" + "0123456789abcdef" * 4,
    }

    done = subprocess.run(
        [sys.executable, "-c", READ],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert done.stdout.splitlines() == ["valkyr-tool False None", "valkyr-web True None"], (
        "Django has changed: see executions/vendor_seams/django_settings.py"
    )
