"""What a node hands on, as our templates read it, and what an expression sees of it.

n8n runs a node once for each item that reaches it, and `$json` is that item. Here a task runs once;
a list is worked on by a `flow.map`, in whose body `item` is the item.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Keys = tuple[str | int, ...]
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Shape:
    """One object: `whole` is the expression for it, `base` the one under which its keys are read.

    `named` are keys that are read elsewhere. With `items`, an expression that yields a list, it is
    many objects, whose keys `each` may call otherwise. Where neither helps, `why` says so.
    """

    whole: str | None = None
    base: str | None = None
    named: Mapping[Keys, str] = field(default_factory=dict)
    items: str | None = None
    each: Mapping[Keys, Keys] = field(default_factory=dict)
    why: str = "what reaches this node is not known"

    def read(self, keys: Keys) -> str | None:
        """The expression for a key below it; None where there is none."""
        if not keys:
            return self.whole
        for length in range(len(keys), 0, -1):
            found = self.named.get(keys[:length])
            if found is not None:
                return path(found, keys[length:])
        return path(self.base, keys) if self.base is not None else None

    def of_item(self, expression: str) -> "Shape":
        """The shape of one of many items, which `expression` yields."""
        named = {keys: path(expression, ours) for keys, ours in self.each.items()}
        return Shape(whole=expression, base=expression, named=named)


UNKNOWN = Shape()


def one(expression: str) -> Shape:
    """An object that an expression yields."""
    return Shape(whole=expression, base=expression)


def many(expression: str, each: Mapping[Keys, Keys] | None = None) -> Shape:
    """A list that an expression yields."""
    why = "n8n runs this node once for each item; put it into the body of a flow.map"
    return Shape(items=expression, each=each or {}, why=why)


def path(base: str, keys: Keys) -> str:
    """An expression for what stands below another one."""
    for key in keys:
        if isinstance(key, int):
            base += f"[{key}]"
        elif _WORD.fullmatch(key):
            base += f".{key}"
        else:
            base += f"[{json.dumps(key, ensure_ascii=False)}]"
    return base


def operand(expression: str) -> str:
    """An expression that something can be done with: in brackets unless it is a path."""
    return f"({expression})" if " " in expression else expression


# What an expression sees where it stands: the item, earlier nodes, the workflow's variables.


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
