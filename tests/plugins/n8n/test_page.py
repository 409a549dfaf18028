"""docs/how-to/n8n.md names all kinds of node that are mapped, and no others."""

import re
from pathlib import Path

from valkyr_plugins.n8n.containers import Builder
from valkyr_plugins.n8n.conversion import KIND
from valkyr_plugins.n8n.graph import LOOP
from valkyr_plugins.n8n.mapping import FAMILIES
from valkyr_plugins.n8n.triggers import MAKERS

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "n8n.md"


def test_the_tables_name_the_kinds_that_the_code_knows() -> None:
    assert Builder.__doc__  # the families have been registered by now
    nodes = PAGE.read_text().split("## Mapped nodes")[1]
    services = nodes.split("## Services")[1].split("## Expressions")[0]
    tables = nodes.split("\n\n**Items.**")[0] + services
    rows = re.findall(r"^\| (`.*?) \|", tables, re.MULTILINE)
    named = {kind for row in rows for kind in re.findall(r"`(\w+)`", row)}

    assert named == {*FAMILIES, *MAKERS, LOOP, KIND}
