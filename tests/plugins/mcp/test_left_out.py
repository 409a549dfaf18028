"""Without the plugin, an installation has none of its URLs; without the package, a problem."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.left_out import run_without

from .agents import Agent

PROGRAM = """
import sys
import django
django.setup()
from executions.api import openapi
from django.urls import NoReverseMatch, resolve, reverse
from dlq.retention import pruning
from valkyr.beat import entries
nothing = resolve("/v1/Nothing").func
print(resolve("/v1/Proposal").func is nothing)
for name in ("admin:valkyr_mcp_proposal_changelist", "valkyr-mcp"):
    try:
        reverse(name)
    except NoReverseMatch:
        print("no page")
print("/v1/Proposal" in openapi.document()["paths"])
print([name for name in entries() if "proposals" in name], "proposals" in pruning.kinds())
print([name for name in sys.modules if name.startswith(("valkyr_plugins.mcp", "mcp"))])
"""


def test_left_out_it_adds_no_address_no_task_and_no_import() -> None:
    done = run_without(PROGRAM, "connectors")

    assert done.stdout.splitlines() == [
        "True",
        "no page",
        "no page",
        "False",
        "[] False",
        "[]",
    ], done.stderr


LAZY = """
import sys
import django
django.setup()
from django.urls import reverse
from valkyr.beat import entries
print(reverse("valkyr-mcp"), any("proposals" in name for name in entries()))
import valkyr_plugins.mcp.admin, valkyr_plugins.mcp.tasks
print(sorted({name.partition(".")[0] for name in sys.modules} & {"mcp", "mcp_types"}))
"""


def test_the_package_is_loaded_by_the_first_request_only() -> None:
    done = run_without(LAZY, "mcp,redrive")

    assert done.stdout.splitlines() == ["/mcp True", "[]"], done.stderr


def test_without_the_package_the_address_names_what_to_install(
    agent: Callable[..., Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    import valkyr_plugins.mcp as plugin

    for name in ("server", "transport"):
        monkeypatch.delitem(sys.modules, f"valkyr_plugins.mcp.{name}", raising=False)
        monkeypatch.delattr(plugin, name, raising=False)
    absent: Any = None
    for name in ["mcp", *(each for each in sys.modules if each.startswith("mcp."))]:
        monkeypatch.setitem(sys.modules, name, absent)

    found = agent().send("tools/list")

    assert found.status_code == 501
    assert found.json()["code"] == "mcp_not_installed"
    assert "valkyr[mcp]" in found.json()["detail"]
