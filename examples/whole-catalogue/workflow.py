from typing import Any

from valkyr import filters, modules, workflow


@workflow(
    input={
        "type": "object",
        "required": ["shop"],
        "properties": {
            "shop": {"type": "string"},
            "pages": {"type": "integer"},
            "start": {"type": "string"},
        },
    }
)
def whole_catalogue(asked: Any) -> dict[str, Any]:
    """Read all pages of a shop's articles and list those in stock."""
    articles = modules.http.paginate(
        url=f"{asked.shop}/articles",
        strategy="cursor",
        next="meta.next",  # JMESPath: the place of the next page's cursor
        parameter="after",  # the query key for the cursor
        start=filters.default(asked.start, None),
        items="articles[?stock > `0`].sku",
        maxPages=filters.default(asked.pages, 100),
    )
    return {key: articles[key] for key in ("pages", "next")} | {"articles": articles["items"]}
