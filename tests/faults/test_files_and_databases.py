"""Steps that use S3 and a database, in real workers: with credentials and circuits, executed
once.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db import connection

from executions import credentials
from executions.definition.graph.document import load_text
from executions.models import WorkflowExecution
from tests.support.auditor import audit
from tests.support.counterparts.aws import aws_server
from tests.support.fleet import Fleet, database_url
from tests.support.stack import PROJECT
from tests.support.workflows import ACTOR, default_workspace, publish, start, wait_for_end
from valkyr_plugins.circuits.models import CircuitBreaker

TABLES = """
CREATE TABLE stock (sku text PRIMARY KEY, amount int CHECK (amount >= 0));
CREATE TABLE bookings (sku text, amount int, execution uuid);
INSERT INTO stock VALUES ('tea', 10);
"""


@pytest.fixture
def shop(fleet: Fleet) -> Iterator[None]:
    """Create the tables of the example, and the credential for them."""
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
    credentials.create(
        default_workspace(),
        name="shop_db",
        type="database",
        fields={"url": database_url()},
        actor=ACTOR,
    )
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE stock, bookings, valkyr_effects")


def example(name: str) -> Any:
    path: Path = PROJECT / "examples" / name / "workflow.yaml"
    return load_text(path.read_text(), content_type="application/yaml")


def amounts() -> tuple[int, int]:
    """Return the remaining stock of tea, and the number of bookings."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT amount, (SELECT count(*) FROM bookings) FROM stock")
        left, booked = cursor.fetchone()
    return int(left), int(booked)


def test_a_booking_is_done_once_and_too_large_a_one_not_at_all(shop: None) -> None:
    workflow = publish(example("stock-booking"))
    good = start(workflow, {"sku": "tea", "amount": 3})
    assert wait_for_end([good])[good] == "SUCCESS"
    assert WorkflowExecution.objects.get(pk=good).output == [{"amount": 7}]
    assert amounts() == (7, 1)

    bad = start(workflow, {"sku": "tea", "amount": 8})

    assert wait_for_end([bad])[bad] == "FAILED"
    assert amounts() == (7, 1)
    assert "23514" in WorkflowExecution.objects.get(pk=bad).error_message
    assert CircuitBreaker.objects.filter(target__startswith="sql:").exists()
    audit([good, bad])


@pytest.fixture
def s3(fleet: Fleet) -> Iterator[str]:
    """Run an S3 server, with a bucket, and its credential."""
    fields = {"access_key": "AKIATEST", "secret_key": "very-secret"}
    credentials.create(
        default_workspace(),
        name="archive_key",
        type="s3",
        fields=fields,
        hosts=["127.0.0.1"],
        actor=ACTOR,
    )
    with aws_server() as url:
        assert httpx.put(f"{url}/shop", trust_env=False).is_success
        yield url


def test_an_archive_goes_to_s3_and_back(s3: str) -> None:
    def task(name: str, use: str, after: str = "", **given: Any) -> dict[str, Any]:
        more = {"after": after} if after else {}
        given["endpoint"] = s3
        return {"id": name, "use": use, "with": given, "credential": "archive_key", **more}

    workflow = publish(
        {
            "tasks": [
                task("write", "file.write", path="s3://shop/a.txt", content="{{ input.text }}"),
                task(
                    "pack", "archive.zip", "write", paths=["s3://shop/a.txt"], to="s3://shop/a.zip"
                ),
                task("unpack", "archive.unzip", "pack", path="s3://shop/a.zip"),
            ],
            "output": "{{ tasks.unpack.output.entries[0].content }}",
        }
    )

    ids = [start(workflow, {"text": "tea"}) for _ in range(3)]

    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    assert WorkflowExecution.objects.get(pk=ids[0]).output == "tea"
    audit(ids)
