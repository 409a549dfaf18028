from typing import Any

from valkyr import filters, modules, workflow


@workflow
def exchange_rate(euros: float) -> Any:
    """Price in dollars, with a rate that is looked up once an hour."""
    cache = {"scope": "workflow", "ttlSeconds": 3600}
    rate = modules.file.read.options(cache=cache)(path="rates/usd.txt")  # in real life: a bank
    dollars = modules.data.set(values={"usd": round(euros * filters.float(rate.content), 2)})
    return dollars.usd
