"""The pages' declarations as a project's module: workers and the test import it.

Names that the pages leave to the reader, such as the bank, are defined here.
"""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from django.db import models

from valkyr import workflow
from valkyr_plugins.python_workflows import workflow as declared

DOCS = Path(__file__).parents[4] / "docs" / "how-to"


def blocks(page: str) -> list[str]:
    """Return the Python blocks of a page."""
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


class Stock(models.Model):
    """The remaining stock of a product."""

    left = models.IntegerField()
    objects: Any

    class Meta:
        app_label = "valkyr_pages"  # not installed: it has no migrations


class OutOfStock(Exception):
    """Fewer are left than requested."""


bank = SimpleNamespace(charge=lambda order, amount: f"receipt-{order}", refund=lambda order: None)
warehouse = SimpleNamespace(pack=lambda line: f"parcel-{line}")
carrier = SimpleNamespace(ship=lambda order, parcels, receipt: f"{order} {parcels} {receipt}")

_WORKFLOWS, _TRANSACTIONS = blocks("python-workflows.md"), blocks("transactions.md")
exec(_WORKFLOWS[0] + _TRANSACTIONS[1])
reserve: Any = globals()["reserve"]


@workflow
def take(product: int, count: int) -> None:
    """Take some from the stock."""
    reserve(product, count)


# `migrate` publishes declared workflows, also in the database of all other tests.
for _one in [one for one in declared.DECLARED if one.function.__module__ == __name__]:
    declared.DECLARED.remove(_one)
