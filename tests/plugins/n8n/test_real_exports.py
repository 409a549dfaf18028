"""Tests of the mapped share of each real export, to detect regressions.

Their connections were lost before they were published, so the data that a node reads of the
previous one is unknown.
"""

import json

import pytest

from executions.definition.graph.schema import shape_problems
from tests.plugins.n8n.exports import DATA, LEFT_TO_DO, codes, converted

COUNTS = {
    "0066_Webhook_Cron_Automate_Scheduled": (6, 18, 6),
    "0396_Datetime_Schedule_Automation_Scheduled": (7, 10, 1),
    "0430_Calendly_Filter_Create_Triggered": (6, 8, 3),
    "1119_Openweathermap_Twilio_Automate_Webhook": (1, 5, 0),
    "1296_Datetime_Splitout_Process": (6, 13, 2),
    "1421_Postgres_Googlecloudnaturallanguage_Automation_Scheduled": (3, 5, 2),
    "1963_Stopanderror_Wait_Automation_Triggered": (16, 4, 0),
}


@pytest.mark.parametrize("name", sorted(COUNTS))
def test_as_much_is_mapped_as_ever(name: str) -> None:
    found = converted(json.loads((DATA / "real" / f"{name}.json").read_text()))

    counts = found.report.counts()
    assert (counts["mapped"], counts["changed"], counts["left"]) == COUNTS[name]
    assert list(shape_problems(found.definition)) == []
    assert codes(found) <= LEFT_TO_DO


def test_every_copied_export_is_counted() -> None:
    assert sorted(path.stem for path in (DATA / "real").iterdir()) == sorted(COUNTS)
