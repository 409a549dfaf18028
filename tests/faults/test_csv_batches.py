"""Real workers split a CSV file into batches and map over them: `examples/sales-report`."""

from pathlib import Path
from typing import Any

from executions.definition.graph.document import load_text, normalise
from executions.models import WorkflowExecution
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.stack import PROJECT
from tests.support.workflows import describe, publish, start, wait_for_end

ROWS = 3_000


def report() -> dict[str, Any]:
    text = (PROJECT / "examples" / "sales-report" / "workflow.yaml").read_text()
    document = load_text(text, content_type="application/yaml")
    assert isinstance(document, dict)
    return {key: value for key, value in normalise(document).items() if key != "name"}


def sales(fleet: Fleet, name: str) -> Path:
    file = fleet.folder / "files" / "sales" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{n};{'DE' if n % 3 else 'FR'};2026-11-01;{n % 10}.10" for n in range(ROWS)]
    file.write_text("\n".join(["id;country;day;total", *lines, ""]))
    return file


def test_the_sums_of_all_batches_are_the_sums_of_the_file(fleet: Fleet) -> None:
    sales(fleet, "whole.csv")

    execution = start(publish(report()), {"path": "sales/whole.csv", "batchSize": 700})
    wait_for_end([execution])

    done = WorkflowExecution.objects.get(pk=execution)
    cents = {"DE": 0, "FR": 0}
    for n in range(ROWS):
        cents["DE" if n % 3 else "FR"] += n % 10 * 100 + 10
    assert done.output == {
        "batches": 5,
        "rows": ROWS,
        "countries": [
            {"country": "DE", "orders": 2000, "total": cents["DE"] / 100, "first": "2026-11-01"},
            {"country": "FR", "orders": 1000, "total": cents["FR"] / 100, "first": "2026-11-01"},
        ],
    }, describe([execution])
    written = (fleet.folder / "files" / "reports" / "by-country.csv").read_text()
    assert written.splitlines()[0] == "country,orders,total,first"
    audit([execution])


def test_a_row_that_does_not_fit_ends_it_before_anything_is_added_up(fleet: Fleet) -> None:
    with sales(fleet, "broken.csv").open("a") as file:
        file.write("broken;row\n")

    execution = start(publish(report()), {"path": "sales/broken.csv", "batchSize": 700})
    wait_for_end([execution])

    done = WorkflowExecution.objects.get(pk=execution)
    assert done.state == "FAILED"
    assert "line 3002 of the CSV has 2 fields, but there are 4 columns" in done.error_message
