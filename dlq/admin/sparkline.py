"""Small charts of bars, drawn by the server: counts a time, oldest first, with words for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

HEIGHT = 22.0
LEAST = 1.5  # of a bar that is not nothing, so that one failure beside thousands is seen


@dataclass(frozen=True, slots=True)
class SparklineBar:
    """One bar, in the drawing's units; y grows downwards."""

    x: float
    y: float
    width: float
    height: float


def bars(counts: Sequence[int], width: float = 4.0, height: float = HEIGHT) -> list[SparklineBar]:
    """A bar a count that is not 0, as high as its share of the greatest."""
    top = max(counts, default=0)
    drawn = []
    for at, count in enumerate(counts):
        if count > 0:
            tall = max(LEAST, height * count / top)
            drawn.append(SparklineBar(at * width, height - tall, width - 1, tall))
    return drawn


def sparkline(counts: Sequence[int], said: str, *, wide: bool = False) -> SafeString:
    """The chart as SVG; `said` is what it shows, for who does not see it."""
    span = 4.0 * len(counts)
    drawn = format_html_join(
        "",
        '<rect x="{}" y="{}" width="{}" height="{}" fill="currentColor"></rect>',
        (
            (f"{bar.x:g}", f"{bar.y:.1f}", f"{bar.width:g}", f"{bar.height:.1f}")
            for bar in bars(counts)
        ),
    )
    return format_html(
        '<svg class="vk-spark{}" role="img" aria-label="{}" viewBox="0 0 {} {}" {}>'
        '<title>{}</title><path class="vk-spark-base" d="M0 {}h{}"></path>{}</svg>',
        " vk-spark-wide" if wide else "",
        said,
        f"{span:g}",
        HEIGHT + 1,
        SafeString('preserveAspectRatio="none"')
        if wide
        else format_html('width="{}" height="{}"', f"{span:g}", HEIGHT + 1),
        said,
        HEIGHT + 0.5,
        f"{span:g}",
        drawn,
    )
