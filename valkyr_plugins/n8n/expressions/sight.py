"""What an expression sees where it stands: the item, earlier nodes, the workflow's variables."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from valkyr_plugins.n8n.shape import UNKNOWN, Shape


@dataclass(slots=True)
class Sight:
    """`current` is `$json`; `nodes` are those that are done; `numbered` where `index` is known.

    `variable` gives the name of one of our variables for one of n8n's or the environment's, and
    None for one that must not be one. `remarks` gathers what a reader should know.
    """

    current: Shape = UNKNOWN
    nodes: Callable[[str], Shape | None] = lambda name: None
    variable: Callable[[str], str | None] = lambda name: None
    numbered: bool = False
    remarks: dict[str, None] = field(default_factory=dict)

    def remark(self, sentence: str) -> None:
        """Note something once."""
        self.remarks[sentence] = None


def seen(nodes: Mapping[str, Shape]) -> Callable[[str], Shape | None]:
    """The look-up of `Sight.nodes` over a mapping."""
    return nodes.get
