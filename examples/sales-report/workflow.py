from typing import Annotated, Any

from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel

from valkyr import each, filters, modules, workflow


class SalesFile(BaseModel, alias_generator=to_camel):
    path: str
    batch_size: Annotated[int, Field(ge=1)]


def add_up(batch: Any) -> Any:
    read = modules.data.csv_parse(batch=batch)
    sums = modules.data.aggregate(
        rows=read.rows,
        groupBy="country",
        compute={
            "orders": {"function": "count"},
            "total": {"function": "sum", "field": "total"},
            "first": {"function": "min", "field": "day"},
        },
    )
    return sums


@workflow
def sales_report(sales: SalesFile) -> dict[str, Any]:
    """Add up a CSV file of any length by country, batch by batch."""
    cut = modules.data.csv_parse(path=sales.path, delimiter="auto", batchSize=sales.batch_size)
    batches = each(cut.batches, add_up, at_most=10)
    together = modules.data.jmespath(expression="[].groups[]", data=batches)
    totals = modules.data.aggregate(
        rows=together.result,
        groupBy="country",
        compute={
            "orders": {"function": "sum", "field": "orders"},
            "total": {"function": "sum", "field": "total"},
            "first": {"function": "min", "field": "first"},
        },
    )
    ranked = modules.data.sort(rows=totals.groups, by=[{"field": "total", "order": "descending"}])
    report = modules.data.csv_write(
        rows=ranked.rows,
        columns=["country", "orders", "total", "first"],
        lineEnd="lf",
        path="reports/by-country.csv",
    )
    return {"batches": filters.length(cut.batches), "rows": cut.count, "countries": ranked.rows}
