"""Without the plugin, an installation has none of its URLs, tasks, links and files."""

from tests.support.left_out import run_without

PROGRAM = """
import sys
import django
django.setup()
from executions.api import openapi
from django.core.management import get_commands
from django.urls import NoReverseMatch, resolve, reverse
from dlq.public.events import stopped_redrives
from dlq.public.retention import HOLDS
from dlq.public.triage import GROUP_LINKS, GROUP_SECTIONS, DeadLetterEntryAdmin
from dlq.retention import pruning
from valkyr.beat import entries
nothing = resolve("/v1/Nothing").func
print([resolve(path).func is nothing for path in ("/v1/Redrive", "/v1/DeadLetterQueue/requeue")])
try:
    reverse("admin:valkyr_redrive_redrive_changelist")
except NoReverseMatch:
    print("no page")
document = openapi.document()
print("/v1/DeadLetterQueue/{id}/requeue" in document["paths"], "/v1/Redrive" in document["paths"])
print([tag["name"] for tag in document["tags"] if tag["name"] == "Redrive"])
print([name for name in entries() if "redrive" in name], "redrive" in get_commands())
print(GROUP_LINKS, GROUP_SECTIONS, "redrive_many" in DeadLetterEntryAdmin.actions)
print(HOLDS, "redrives" in pruning.kinds(), stopped_redrives.provided)
print([name for name in sys.modules if name.startswith("valkyr_plugins.redrive")])
"""


def test_left_out_it_adds_no_address_no_task_no_link_and_no_import() -> None:
    done = run_without(PROGRAM, "connectors")

    assert done.stdout.splitlines() == [
        "[True, True]",
        "no page",
        "True False",
        "[]",
        "[] False",
        "[] [] False",
        "[] False False",
        "[]",
    ], done.stderr
