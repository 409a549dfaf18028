"""A node's outputs in template syntax, and the data that an expression can read.

n8n runs a node once for each input item, and `$json` is that item. Here a task runs once;
`flow.map` processes a list, and in its body `item` is the item.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Keys = tuple[str | int, ...]
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Shape:
    """One object: `whole` is its expression, and `base` is the prefix of its keys.

    `named` are keys with another expression. With `items` (an expression for a list), the shape
    stands for many objects, whose keys `each` may rename. If there is no expression, `why` is the
    reason.

    `within` is the key under which an item has its fields: Airtable's fields are under `fields`. It
    is None if the items do not have n8n's fields.
    """

    whole: str | None = None
    base: str | None = None
    named: Mapping[Keys, str] = field(default_factory=dict)
    items: str | None = None
    each: Mapping[Keys, Keys] = field(default_factory=dict)
    within: Keys | None = ()
    why: str = "the input of this node is not known"

    def read(self, keys: Keys) -> str | None:
        """Return the expression for a key or nested keys of the object; None if it is unknown."""
        if not keys:
            return self.whole
        for length in range(len(keys), 0, -1):
            found = self.named.get(keys[:length])
            if found is not None:
                return path(found, keys[length:])
        return path(self.base, keys) if self.base is not None else None

    def of_item(self, expression: str) -> "Shape":
        """Return the shape of one item of the list; `expression` yields the item."""
        named = {keys: path(expression, ours) for keys, ours in self.each.items()}
        if self.within is None:
            return Shape(whole=expression, named=named, why=self.why)
        return Shape(whole=expression, base=path(expression, self.within), named=named)

    def column(self, keys: Keys) -> Keys | None:
        """Return the path of n8n's field within an item; None if the path is unknown."""
        for length in range(len(keys), 0, -1):
            if keys[:length] in self.each:
                return (*self.each[keys[:length]], *keys[length:])
        return None if self.within is None else (*self.within, *keys)

    def again(self, expression: str) -> "Shape":
        """Return the shape of the list that `expression` yields, with items like this list's."""
        if self.items is None:
            return many(expression)
        return replace(self, items=expression)


UNKNOWN = Shape()


def one(expression: str) -> Shape:
    """Return the shape of an object that an expression yields."""
    return Shape(whole=expression, base=expression)


def many(expression: str, each: Mapping[Keys, Keys] | None = None) -> Shape:
    """Return the shape of a list that an expression yields."""
    why = "n8n runs this node once for each item; put it into the body of a flow.map"
    return Shape(items=expression, each=each or {}, why=why)


def path(base: str, keys: Keys) -> str:
    """Return the expression that reads nested keys of another expression."""
    for key in keys:
        if isinstance(key, int):
            base += f"[{key}]"
        elif _WORD.fullmatch(key):
            base += f".{key}"
        else:
            base += f"[{json.dumps(key, ensure_ascii=False)}]"
    return base


def operand(expression: str) -> str:
    """Return an expression as an operand: in parentheses if it contains a space."""
    return f"({expression})" if " " in expression else expression


# The names that an expression can read: the item, earlier nodes, and the workflow's variables.


@dataclass(slots=True)
class Sight:
    """The data that an expression can read: `current` is `$json`; `nodes` finds an earlier node.

    `numbered` is true if `index` is known. `arguments` collects the arguments that a model gives a
    tool, with their schemas; it is None outside tools. `variable` returns the name for one of n8n's
    or the environment's variables, and None for a forbidden one. `remarks` collects notes for the
    user.
    """

    current: Shape = UNKNOWN
    nodes: Callable[[str], Shape | None] = lambda name: None
    variable: Callable[[str], str | None] = lambda name: None
    numbered: bool = False
    arguments: dict[str, dict[str, Any]] | None = None
    remarks: dict[str, None] = field(default_factory=dict)

    def remark(self, sentence: str) -> None:
        """Add a remark, but only once."""
        self.remarks[sentence] = None


def seen(nodes: Mapping[str, Shape]) -> Callable[[str], Shape | None]:
    """Return a function for `Sight.nodes` that looks up nodes in a mapping."""
    return nodes.get
