"""Where a chain of keys begins: `$json`, `$('A').item.json`, `$node["A"].json`, `$input…`."""

from valkyr_plugins.n8n.expressions.sight import Sight
from valkyr_plugins.n8n.expressions.tree import (
    FunctionCall,
    Literal,
    Member,
    Name,
    Tree,
    Untranslatable,
)
from valkyr_plugins.n8n.shape import Shape, operand

Step = Member | FunctionCall
Steps = list[Step]
ITEM = ("item", "itemMatching", "pairedItem")
ENDS = {"first": "0", "last": "-1"}
DATA = ("json", "data")


def unfolded(tree: Tree) -> tuple[Tree, Steps]:
    """What a chain begins with, and its steps from there."""
    steps: Steps = []
    while isinstance(tree, (Member, FunctionCall)):
        steps.append(tree)
        tree = tree.of
    return tree, steps[::-1]


def anchor(root: Tree, steps: Steps, sight: Sight) -> tuple[Shape, Steps] | None:
    """The data that a chain begins at, and what is left of it; None where it is no data.

    Raises Untranslatable.
    """
    name = root.name if isinstance(root, Name) else ""
    if name in ("$json", "$data"):
        return sight.current, steps
    if name == "$input":
        return _item(sight.current, steps)
    if name in ("$", "$items") and steps and isinstance(steps[0], FunctionCall):
        return _called(name, steps[0], steps[1:], sight)
    if name == "$node" and steps:
        return _data(_node(_key(steps[0]), sight), steps[1:])
    if name == "$item" and len(steps) > 1 and _key(steps[1]) == "$node":
        sight.remark("$item(n) chose one of several items; here there is one.")
        return anchor(Name("$node"), steps[2:], sight)
    return None


def _called(name: str, call: FunctionCall, rest: Steps, sight: Sight) -> tuple[Shape, Steps]:
    first = call.arguments[0] if call.arguments else None
    if first is None and name == "$items":
        shape = sight.current
    elif isinstance(first, Literal) and isinstance(first.value, str):
        shape = _node(first.value, sight)
    else:
        raise Untranslatable("the node's name is worked out")
    if name == "$":
        return _item(shape, rest)
    place = _constant(rest[0]) if rest else None
    if not isinstance(place, int):
        raise Untranslatable("it takes all items of a node")
    return _data(_at(shape, str(place)), rest[1:])


def _item(shape: Shape, steps: Steps) -> tuple[Shape, Steps]:
    """`.item.json`, `.first().json`, `.last().json`, `.all()[0].json`."""
    word = _key(steps[0]) if steps else None
    if word in ITEM:
        skipped = 2 if len(steps) > 1 and isinstance(steps[1], FunctionCall) else 1
        return _data(shape, steps[skipped:])
    if word in ENDS and len(steps) > 1 and isinstance(steps[1], FunctionCall):
        return _data(_at(shape, ENDS[str(word)]), steps[2:])
    if word == "all" and len(steps) > 2 and isinstance(place := _constant(steps[2]), int):
        return _data(_at(shape, str(place)), steps[3:])
    if word in DATA:
        return shape, steps[1:]
    raise Untranslatable("it takes more of a node than one item's data")


def _data(shape: Shape, steps: Steps) -> tuple[Shape, Steps]:
    if not steps or _key(steps[0]) not in DATA:
        raise Untranslatable("it takes something else of a node than its data")
    return shape, steps[1:]


def _at(shape: Shape, place: str) -> Shape:
    if shape.items is None:
        return shape
    if place == "-1":
        return shape.of_item(f"({shape.items} | last)")
    return shape.of_item(f"{operand(shape.items)}[{place}]")


def _node(name: object, sight: Sight) -> Shape:
    if not isinstance(name, str):
        raise Untranslatable("the node's name is worked out")
    shape = sight.nodes(name)
    if shape is None:
        raise Untranslatable(f'"{name}" does not come before this node for certain')
    return shape


def _key(step: Step) -> str | int | None:
    return _constant(step) if isinstance(step, Member) else None


def _constant(step: Step) -> str | int | None:
    key = step.key if isinstance(step, Member) else None
    value = key.value if isinstance(key, Literal) else None
    return value if isinstance(value, (str, int)) and not isinstance(value, bool) else None
