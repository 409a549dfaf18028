"""Build the headers of an admin list only once per page.

Unfold builds all headers again for each row, to name each cell's column. Each time, it renders the
checkbox of the header and the links that sort the list.

Relies on: `unfold.templatetags.unfold_list.result_headers(cl)`. The other functions of that module
look it up by name at each call, and only read the dictionaries that it yields (Unfold 0.91).
No public way: a template tag calls the function, and has no option to use another one.
If it breaks: lists look the same, and take about a quarter longer.
"""

from collections.abc import Callable, Iterable
from typing import Any

Headers = list[dict[str, Any]]
KEPT = "_headers_of_page"


def build_headers_once() -> None:
    """Make Unfold build the headers of a list page once. A second call changes nothing."""
    from unfold.templatetags import unfold_list

    build: Callable[[Any], Iterable[dict[str, Any]]] = unfold_list.result_headers
    if getattr(build, "once", False):
        return

    def kept(cl: Any) -> Headers:
        found: Headers | None = getattr(cl, KEPT, None)
        if found is None:
            found = list(build(cl))
            setattr(cl, KEPT, found)
        return found

    kept.once = True  # type: ignore[attr-defined]
    unfold_list.result_headers = kept
