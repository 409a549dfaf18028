"""Tests that run last, after all others: each takes much time to try more of what others try.

They try a promise at a larger scale, in further projects, servers and configurations, or in one
long journey through the whole product. `TESTS_MINUTES` limits the time from the start of `.ci/test`
until which such a test begins; a later one is skipped, with this reason. Without it, all of them
run.
"""

import os
import time

import pytest

LONG = (
    # larger
    "tests/browser/test_monitor_large.py",
    "tests/browser/test_thousand_failures.py",
    "tests/concurrency/test_admission_places.py::test_ten_thousand",
    "tests/faults/test_blame.py::test_a_worker_killed_twenty_times",
    "tests/faults/test_random_kills.py",
    "tests/faults/test_real_graphs.py",
    "tests/faults/test_real_graphs_of_items.py",
    "tests/fuzz/test_fuzz.py",
    "tests/integration/test_forgotten_filters.py",
    "tests/live/test_many.py",
    "tests/plugins/archive/test_killed_archiver.py",
    "tests/plugins/mcp/workers/test_drill.py",
    "tests/property/test_compensation.py",
    "tests/property/test_history.py",
    "tests/property/test_interventions.py",
    # in more projects, servers and configurations
    "tests/cli/test_doctor.py",
    "tests/clients/",
    "tests/contract/test_roles_with_row_security.py",
    "tests/faults/test_deployed_tree.py",
    "tests/hosts/test_minimal.py",
    "tests/hosts/test_tutorial.py",
    "tests/hosts/test_wagtail.py",
    "tests/integration/test_hostile_project.py",
    "tests/packaging/",
    "tests/projects/test_accounts_apart.py",
    "tests/projects/test_plain_admin.py",
    "tests/projects/test_second_database.py",
    "tests/servers/test_pgbouncer_cells.py",
    "tests/servers/test_row_security.py",
    "tests/servers/test_somebodys_project.py",
    "tests/servers/test_sql_views.py",
    # long journeys
    "tests/browser/studio/journeys/",
    "tests/browser/test_desk.py",
    "tests/integration/test_benchmarks.py",
    "tests/integration/test_secret_canary.py",
    "tests/integration/test_walkthrough.py",
)
UNTIL = "TESTS_UNTIL"  # seconds since 1970, which `.ci/test` computes from TESTS_MINUTES


def mark(items: list[pytest.Item]) -> None:
    """Mark the tests of `LONG`."""
    for item in items:
        if item.nodeid.startswith(LONG):
            item.add_marker("long")


def skip_late(item: pytest.Item) -> None:
    """Skip a long test if the time for such tests is over."""
    until = os.environ.get(UNTIL)
    if until and item.get_closest_marker("long") and time.time() > float(until):
        pytest.skip("a long test, and the time for long tests is over (TESTS_MINUTES)")
