"""No URL is written in code: each comes from the name of its route (`executions/addresses.py`).

The rule does not apply to programs that call an installation from outside, by its documented URLs.
"""

import re
from pathlib import Path

import pytest
from django.urls import URLPattern, get_resolver

PROJECT = Path(__file__).parents[2]
PLACES = ("executions", "runners", "dlq", "valkyr_plugins", "valkyr", "valkyr_project")
KINDS = {".py", ".html", ".js", ".mjs", ".ts", ".tsx"}
# An address at the beginning of a text: after a quotation mark, or where a template inserts it.
# Python has no strings in backticks, but docstrings contain addresses in them.
ADDRESS = r"""(?:/v1/|/api/v1/|/admin/|/studio/|/docs\b|/actuator/|/sso/)[^"'`\n]{0,60}"""
WRITTEN = re.compile(rf"""["'`(=}}]{ADDRESS}""")
IN_PYTHON = re.compile(rf"""["'}}]{ADDRESS}""")
OUTSIDE = (
    "executions/api/examples.json",
    "executions/frontend/node_modules/",
    "executions/frontend/tests/",
    "valkyr/cli/",
    "valkyr_project/demo/",
    "valkyr_project/up/",
)
MAY = {
    # A probe of the process itself, which answers below its own root.
    "runners/process/signs_of_life.py": {'"/actuator/health/live'},
    # Prefixes of an ASGI application of the platform, where no route is resolved yet.
    "valkyr_plugins/telemetry/requests.py": {'"/actuator/'},
    # An address of Shopify's API.
    "valkyr_plugins/n8n/services/stores.py": {"}/admin/api/2025-07"},
}


def written(name: str) -> list[str]:
    """Return the URLs in a file."""
    pattern = IN_PYTHON if name.endswith(".py") else WRITTEN
    found = pattern.findall((PROJECT / name).read_text(errors="replace"))
    return [text for text in found if text not in MAY.get(name, ())]


def files() -> list[str]:
    names = (
        str(file.relative_to(PROJECT))
        for place in PLACES
        for file in sorted((PROJECT / place).rglob("*"))
        if file.suffix in KINDS
    )
    return [one for one in names if not one.startswith(OUTSIDE) and "/migrations/" not in one]


def test_no_address_is_written_in_code() -> None:
    found = {name: written(name) for name in files()}

    assert {name: texts for name, texts in found.items() if texts} == {}


@pytest.mark.parametrize(
    "text", ['"/v1/Run"', "`/v1/Run/${id}`", 'href="/admin/"', "{{ root }}/v1/x", 'fetch("/docs")']
)
def test_addresses_are_found_where_they_are_written(text: str) -> None:
    assert WRITTEN.search(text)


def routes() -> list[URLPattern]:
    waiting, found = list(get_resolver("valkyr.urls").url_patterns), []
    while waiting:
        one = waiting.pop()
        if isinstance(one, URLPattern):
            found.append(one)
        else:
            waiting.extend(one.url_patterns)
    return found


def test_each_route_has_a_name_of_its_own() -> None:
    names = [one.name for one in routes()]

    assert len(names) > 100
    assert all(name and name.startswith("valkyr-") for name in names), names
    assert len(set(names)) == len(names)
