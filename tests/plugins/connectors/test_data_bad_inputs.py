"""Every bad input in a data module's table fails as the table says, within the step's time."""

import pytest

from tests.support.bad_inputs import check_row, rows

TYPES = (
    "data.set",
    "data.jmespath",
    "data.template",
    "data.validate",
    "data.csv_parse",
    "data.csv_write",
    "data.json_parse",
    "data.xml_parse",
    "data.html_extract",
    "data.aggregate",
    "data.deduplicate",
    "data.sort",
)


@pytest.mark.parametrize(("module_type", "bad"), rows(types=TYPES))
def test_a_bad_input_fails_as_its_table_says(module_type, bad, step_context):
    check_row(module_type, bad, step_context)
