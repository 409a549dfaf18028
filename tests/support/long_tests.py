"""Tests that run last, after all others: each takes much time to try more of what others try.

They try a promise at a larger scale, in further projects, servers and configurations, or in one
long journey through the whole product. `TESTS_MINUTES` limits the time from the start of `.ci/test`
until which such a test begins; a later one is skipped, with this reason. Without it, all of them
run. The other tests are never skipped.
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
    "tests/browser/studio/test_canvas_large.py",
    "tests/browser/test_admin_pages.py",
    "tests/contract/test_bad_input_everywhere.py",
    "tests/faults/test_real_graphs.py",
    "tests/faults/test_real_graphs_of_items.py",
    "tests/fuzz/test_fuzz.py",
    "tests/integration/test_forgotten_filters.py",
    "tests/integration/test_plans.py",
    "tests/live/test_many.py",
    "tests/plugins/archive/test_killed_archiver.py",
    "tests/plugins/figures/test_counting.py",
    "tests/plugins/mcp/workers/test_drill.py",
    "tests/plugins/sql_views/test_fuzzing.py",
    "tests/property/test_compensation.py",
    "tests/property/test_history.py",
    "tests/property/test_interventions.py",
    "tests/simulation/",
    # in more projects, servers and configurations
    "tests/browser/studio/test_studio_languages.py",
    "tests/cli/test_doctor.py",
    "tests/cli/test_local.py",
    "tests/clients/",
    "tests/contract/test_roles_with_row_security.py",
    "tests/faults/test_deployed_tree.py",
    "tests/faults/test_cut_networks.py::test_a_step_goes_on_while_its_worker_has_a_lease[slow]",
    "tests/faults/test_payload_store.py::test_a_large_payload_passes_through_killed_workers_unread[s3]",
    "tests/faults/test_payload_store.py::test_a_response_streams_through_a_file_to_its_rows[s3-True]",
    "tests/faults/test_payload_store.py::test_a_worker_that_is_killed_while_it_stores_loses_no_output[s3]",
    "tests/faults/test_payload_store.py::test_killed_workers_read_the_items_of_a_stored_list[s3]",
    "tests/faults/test_payload_store.py::test_the_store_adds_little_memory_to_a_large_output[s3]",
    "tests/hosts/test_minimal.py",
    "tests/hosts/test_tutorial.py",
    "tests/hosts/test_wagtail.py",
    "tests/integration/test_hostile_project.py",
    "tests/integration/test_process_image.py",
    "tests/packaging/",
    "tests/projects/test_accounts_apart.py",
    "tests/projects/test_own_accounts.py::test_every_page_opens_on_two_admin_sites",
    "tests/projects/test_plain_admin.py",
    "tests/projects/test_second_database.py",
    "tests/servers/test_pgbouncer_cells.py",
    "tests/servers/test_row_security.py",
    "tests/servers/test_somebodys_project.py",
    "tests/servers/test_sql_views.py",
    "tests/servers/test_upgrade.py",
    # long journeys
    "tests/browser/studio/journeys/",
    "tests/browser/test_desk.py",
    "tests/integration/test_attacks.py",
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
    """Skip a long test if the time for long tests is over."""
    until = os.environ.get(UNTIL)
    if until and item.get_closest_marker("long") and time.time() > float(until):
        pytest.skip("a long test, and the time for long tests is over (TESTS_MINUTES)")
