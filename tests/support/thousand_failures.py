"""A thousand failures of four kinds: orders from a country that the steps do not know."""

from typing import Any

from executions.models import Workflow
from tests.support.workflows import publish, start_many, task

KINDS = {"Order import": 550, "Invoices": 250, "Shipping labels": 150, "Returns": 50}
# The country that each of the four expects; `UK` fits none of them.
RULES: dict[str, dict[str, Any]] = {
    "Order import": {"enum": ["DE", "FR", "GB"]},
    "Invoices": {"pattern": "^(DE|FR|GB)$"},
    "Shipping labels": {"not": {"const": "UK"}},
    "Returns": {"anyOf": [{"const": "FR"}, {"const": "GB"}]},
}


def workflow_of(name: str) -> Workflow:
    """Publish a workflow whose first step checks the country."""
    checked = {
        "data": {"country": "{{ input.country }}", "order": "{{ input.order }}"},
        "schema": {"properties": {"country": RULES[name]}},
    }
    tasks = [task("check", "data.validate", **{"with": checked}), task("book", after="check")]
    return publish({"name": name, "tasks": tasks})


def fail(workflow: Workflow, count: int, *, first: int = 0) -> None:
    """Start orders from a country that the step does not know, after one valid order."""
    start_many(workflow, [{"country": "FR", "order": first}])
    start_many(workflow, [{"country": "UK", "order": first + n} for n in range(1, count + 1)])
