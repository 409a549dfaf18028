"""The last of the projects' tests: by now, the minute for which their beats waited has passed."""

import pytest

from tests.hosts import scenarios
from tests.hosts.conftest import Host

pytestmark = [pytest.mark.network]


@pytest.mark.parametrize("host", ["minimal_host", "bureau_host"])
def test_a_workflow_begins_by_the_projects_own_beat(
    host: str, request: pytest.FixtureRequest
) -> None:
    found: Host = request.getfixturevalue(host)

    scenarios.began_by_beat(found.project, found.client, found.clock)
