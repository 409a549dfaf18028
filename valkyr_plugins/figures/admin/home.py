"""The figures of a range on the home page: cards, charts, and a line of numbers."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import timezone

from dlq.public.dashboard import BlockView, HomeBlock, add_block
from executions.public.access import Scope
from executions.public.admin import reach, scoped
from executions.public.models import WorkflowExecution
from valkyr_plugins.figures.admin.cards import banners, cards, measures
from valkyr_plugins.figures.admin.charts import charts
from valkyr_plugins.figures.ranges import RANGES, Range, range_named
from valkyr_plugins.figures.reading import Figures, read


@dataclass(frozen=True, slots=True)
class HomeFigures:
    """The figures of what the person may see, and whether there is anything to count."""

    figures: Figures
    anything: bool


def wanted_range(request: HttpRequest) -> Range:
    """The range that the page was asked for."""
    return range_named(request.GET.get("range"))


def ranges(wanted: Range) -> list[tuple[str, str, bool]]:
    """The ranges to choose from, as (name, title, whether it is shown)."""
    return [(one.name, one.title, one is wanted) for one in RANGES.values()]


def _gather(request: HttpRequest) -> HomeFigures:
    scope = Scope.of(request.user, reach(request))
    figures = read(scope, wanted_range(request), timezone.now())
    return HomeFigures(figures, scoped(request, WorkflowExecution.objects.all()).exists())


def _show(request: HttpRequest, found: HomeFigures | None) -> BlockView:
    figures = found.figures if found else None
    shown = {"measures": measures(figures), "charts": charts(figures) if figures else []}
    return BlockView(
        cards=cards(figures),
        banners=banners(found.figures, anything=found.anything) if found else (),
        above=render_to_string("figures/ranges.html", {"ranges": ranges(wanted_range(request))}),
        below=render_to_string("figures/shown.html", shown),
    )


add_block(
    HomeBlock(
        name="figures",
        variant=lambda request: wanted_range(request).name,
        gather=_gather,
        show=_show,
    )
)
