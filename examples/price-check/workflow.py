from typing import Any

from valkyr import each, filters, modules, workflow

ARTICLE = {
    "type": "object",
    "required": ["sku", "price", "cost"],
    "properties": {"price": {"type": "number", "exclusiveMinimum": 0}, "cost": {"type": "number"}},
}


def check_one(article: Any) -> Any:
    valid = modules.data.validate(data=article, schema=ARTICLE)
    percent = filters.int(round((article.price - article.cost) / article.price * 100))
    margin = modules.data.set.options(after=valid)(values={"sku": article.sku, "percent": percent})
    return margin


@workflow
def price_check(articles: list[dict[str, Any]]) -> Any:
    """Work out each article's margin; one bad article must not stop the others."""
    check = each(articles, check_one, at_most=10, on_item_error="continue")
    report = modules.data.jmespath(
        expression="{good: [?percent], bad: [?error].error.message}", data=check
    )
    return report.result
