from typing import Any

from valkyr import choose, filters, is_missing, modules, not_, repeat, variables, workflow


@workflow
def catalogue_pages(skus: list[str]) -> dict[str, Any]:
    """Read a catalogue page by page until there is no next page."""
    catalogue = variables(next=0, seen=[])
    with repeat(while_=not_(is_missing(catalogue.next)), at_most=100) as pages:
        after = catalogue.next + 2
        page = modules.data.set(  # in real life: http.request with ?offset=…
            values={
                "skus": skus[catalogue.next : after],
                "next": choose(after < filters.length(skus), after, None),
            }
        )
        keep = catalogue.set(next=page.next, seen=catalogue.seen + page.skus)
    return {"pages": pages.iterations, "seen": catalogue.seen}
