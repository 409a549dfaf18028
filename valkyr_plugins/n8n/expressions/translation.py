"""Translate a JavaScript expression's tree into a template expression."""

import json
import re
from typing import Any

from valkyr_plugins.n8n.expressions import methods
from valkyr_plugins.n8n.expressions.methods import (
    FUNCTIONS,
    METHODS,
    NUMBER,
    OTHER,
    TEXT,
    Written,
    written,
)
from valkyr_plugins.n8n.expressions.parsing import (
    Binary,
    Conditional,
    FunctionCall,
    Joined,
    ListOf,
    Literal,
    Member,
    Name,
    ObjectOf,
    Tree,
    Unary,
    Untranslatable,
    parse,
)
from valkyr_plugins.n8n.shape import Keys, Shape, Sight, operand, path

# Find the beginning of a chain of keys: `$json`, `$('A').item.json`, `$node["A"].json`, `$input…`.


Step = Member | FunctionCall
Steps = list[Step]
ITEM = ("item", "itemMatching", "pairedItem")
ENDS = {"first": "0", "last": "-1"}
DATA = ("json", "data")


def unfolded(tree: Tree) -> tuple[Tree, Steps]:
    """Return the first value of a chain of members and calls, and the steps after it."""
    steps: Steps = []
    while isinstance(tree, (Member, FunctionCall)):
        steps.append(tree)
        tree = tree.of
    return tree, steps[::-1]


def anchor(root: Tree, steps: Steps, sight: Sight) -> tuple[Shape, Steps] | None:
    """Return the data at the start of a chain, and the remaining steps.

    Return None if the chain does not start with data. Raises Untranslatable.
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
        raise Untranslatable("the node's name is computed")
    if name == "$":
        return _item(shape, rest)
    place = _constant(rest[0]) if rest else None
    if not isinstance(place, int):
        raise Untranslatable("it reads all items of a node")
    return _data(_at(shape, str(place)), rest[1:])


def _item(shape: Shape, steps: Steps) -> tuple[Shape, Steps]:
    """Return the data of a chain such as `.first().json`, and the remaining steps.

    Raises Untranslatable.
    """
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
    raise Untranslatable("it reads more of a node than one item's data")


def _data(shape: Shape, steps: Steps) -> tuple[Shape, Steps]:
    if not steps or _key(steps[0]) not in DATA:
        raise Untranslatable("it reads something other than a node's data")
    return shape, steps[1:]


def _at(shape: Shape, place: str) -> Shape:
    if shape.items is None:
        return shape
    if place == "-1":
        return shape.of_item(f"({shape.items} | last)")
    return shape.of_item(f"{operand(shape.items)}[{place}]")


def _node(name: object, sight: Sight) -> Shape:
    if not isinstance(name, str):
        raise Untranslatable("the node's name is computed")
    shape = sight.nodes(name)
    if shape is None:
        raise Untranslatable(f'"{name}" does not always run before this node')
    return shape


def _key(step: Step) -> str | int | None:
    return _constant(step) if isinstance(step, Member) else None


def _constant(step: Step) -> str | int | None:
    key = step.key if isinstance(step, Member) else None
    value = key.value if isinstance(key, Literal) else None
    return value if isinstance(value, (str, int)) and not isinstance(value, bool) else None


MAX_SOURCE = 4_000
_ARGUMENT = re.compile(r"[^A-Za-z0-9_]+")
_KINDS = ("string", "number", "integer", "boolean", "object", "array")
_SIGNS = {"===": "==", "!==": "!=", "&&": "and"}


def translated(source: str, sight: Sight) -> str:
    """Translate an expression of n8n. Raises Untranslatable."""
    if len(source) > MAX_SOURCE:
        raise Untranslatable(f"it has more than {MAX_SOURCE:,} characters")
    text, _ = _Writer(sight).write(parse(source))
    return _bare(text)


def constant(value: object) -> str:
    """Return a JSON value as an expression."""
    if isinstance(value, list):
        return "[" + ", ".join(map(constant, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{constant(k)}: {constant(v)}" for k, v in value.items()) + "}"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    return json.dumps(value, ensure_ascii=False)


def _bare(text: str) -> str:
    """Return the expression without brackets that enclose the whole of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth, quote, skip = 0, "", False
    for place, character in enumerate(text):
        if skip:
            skip = False
        elif quote:
            skip = character == "\\"
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        else:
            depth += (character in "([{") - (character in ")]}")
            if depth == 0 and place < len(text) - 1:
                return text
    return text[1:-1]


class _Writer:
    def __init__(self, sight: Sight) -> None:
        self.sight = sight

    def write(self, tree: Tree) -> Written:
        """Return the tree as an operand, and the kind of its value. Raises Untranslatable."""
        match tree:
            case Literal() | Joined() | ListOf() | ObjectOf():
                return self.written_out(tree)
            case Unary(sign, of):
                return self.unary(sign, of)
            case Binary(sign, left, right):
                return self.binary(sign, left, right)
            case Conditional(test, yes, no):
                text, kind = self.write(yes)
                return f"({text} if {self.text(test)} else {self.text(no)})", kind
            case Name() | Member() | FunctionCall():
                return self.chain(tree)

    def written_out(self, tree: Literal | Joined | ListOf | ObjectOf) -> Written:
        match tree:
            case Literal(value):
                kind = TEXT if isinstance(value, str) else OTHER
                number = isinstance(value, (int, float)) and not isinstance(value, bool)
                return constant(value), NUMBER if number else kind
            case Joined(parts):
                return "(" + " ~ ".join(self.text(part) for part in parts) + ")", TEXT
            case ListOf(items):
                return "[" + ", ".join(self.text(item) for item in items) + "]", OTHER
            case ObjectOf(pairs):
                inner = ", ".join(f"{constant(key)}: {self.text(item)}" for key, item in pairs)
                return "{" + inner + "}", OTHER

    def text(self, tree: Tree) -> str:
        return self.write(tree)[0]

    def unary(self, sign: str, of: Tree) -> Written:
        text = self.text(of)
        if sign == "!":
            return f"(not {text})", OTHER
        return (f"(-{text})" if sign == "-" else f"({text} | float)"), NUMBER

    def binary(self, sign: str, left: Tree, right: Tree) -> Written:
        (first, one), (second, other) = self.write(left), self.write(right)
        if sign == "||":
            return f"({first} | default({second}, true))", other
        if sign == "??":
            return f"({second} if ({first} | default(none)) is none else {first})", other
        if sign == "+" and TEXT in (one, other):
            return f"({first} ~ {second})", TEXT
        if sign == "+" and NUMBER not in (one, other):
            raise Untranslatable("it is not clear whether + adds or joins")
        kind = NUMBER if sign in "+-*/%" else OTHER
        return f"({first} {_SIGNS.get(sign, sign)} {second})", kind

    def chain(self, tree: Tree) -> Written:
        root, steps = unfolded(tree)
        found = anchor(root, steps, self.sight)
        if found is None:
            return self.other(root, steps)
        shape, rest = found
        keys, rest = _plain_keys(rest)
        if not keys and not rest and shape.whole is None and shape.items is not None:
            raise Untranslatable(shape.why)
        text = shape.read(keys)
        if text is None:
            raise Untranslatable(shape.why)
        return self.go_on(text, OTHER, rest)

    def other(self, root: Tree, steps: Steps) -> Written:
        """Translate a chain that does not begin with a node's data. Raises Untranslatable."""
        if not isinstance(root, Name):
            text, kind = self.write(root)
            return self.go_on(text, kind, steps)
        if root.name in ("$now", "$today"):
            return self.time(root.name, steps)
        first = steps[0] if steps else None
        key = _constant_key(first)
        if root.name in ("$env", "$vars") and isinstance(key, str):
            return self.variable(root.name, key, steps[1:])
        if root.name == "$execution" and key == "id":
            return self.go_on("execution.id", TEXT, steps[1:])
        if root.name == "$itemIndex" and self.sight.numbered:
            return self.go_on("index", NUMBER, steps)
        return self.function(root.name, key, steps)

    def variable(self, root: str, name: str, rest: Steps) -> Written:
        found = self.sight.variable(name)
        if found is None:
            raise Untranslatable(f"{root}.{name} holds a secret; use a credential")
        return self.go_on(f"vars.{found}", OTHER, rest)

    def function(self, root: str, key: str | int | None, steps: Steps) -> Written:
        """Translate a call such as `String(x)` or `Math.round(x)`. Raises Untranslatable."""
        if steps and isinstance(steps[0], FunctionCall):
            return self.called(root, steps[0], steps[1:])
        if isinstance(key, str) and len(steps) > 1 and isinstance(steps[1], FunctionCall):
            return self.called(f"{root}.{key}", steps[1], steps[2:])
        raise Untranslatable(f"it reads {root}")

    def called(self, name: str, call: FunctionCall, rest: Steps) -> Written:
        if name.lower() == "$fromai" and self.sight.arguments is not None:
            return self.go_on(_argument(self.sight.arguments, call), OTHER, rest)
        text, kind = written(FUNCTIONS, name, *map(self.text, call.arguments))
        return self.go_on(text, kind, rest)

    def time(self, name: str, steps: Steps) -> Written:
        key = _constant_key(steps[0]) if steps else None
        call = steps[1] if len(steps) > 1 else None
        self.sight.remark(methods.REMARK)
        if key in ("format", "toFormat") and isinstance(call, FunctionCall) and call.arguments:
            pattern = call.arguments[0]
            if isinstance(pattern, Literal) and isinstance(pattern.value, str):
                return self.go_on(f"({methods.formatted(pattern.value)})", TEXT, steps[2:])
        if key == "toISODate" and isinstance(call, FunctionCall):
            return self.go_on(f"{methods.STARTED}[0:10]", TEXT, steps[2:])
        if name == "$now" and key in ("toISO", "toString") and isinstance(call, FunctionCall):
            return self.go_on(methods.STARTED, TEXT, steps[2:])
        if name == "$now" and not steps:
            return methods.STARTED, TEXT
        raise Untranslatable(f"it computes with {name}")

    def go_on(self, text: str, kind: str, steps: Steps) -> Written:
        """Translate the rest of a chain: keys, methods and lengths. Raises Untranslatable."""
        optional = False
        place = 0
        while place < len(steps):
            step = steps[place]
            place += 1
            if isinstance(step, FunctionCall):
                raise Untranslatable("it calls its own function")
            key = _constant_key(step)
            call = steps[place] if place < len(steps) else None
            if isinstance(key, str) and isinstance(call, FunctionCall):
                place += 1
                given = [self.text(argument) for argument in call.arguments]
                text, kind = written(METHODS, key, text, *given)
            elif key == "length":
                text, kind = f"({text} | length)", NUMBER
            elif step.optional:
                optional = True
                text, kind = self.key(f"({text} | default({{}}, true))", step), OTHER
            else:
                text, kind = self.key(text, step), OTHER
        return (f"({text} | default(none))" if optional else text), kind

    def key(self, text: str, step: Member) -> str:
        key = _constant_key(step)
        return path(text, (key,)) if key is not None else f"{text}[{self.text(step.key)}]"


def _argument(known: dict[str, dict[str, Any]], call: FunctionCall) -> str:
    """Return the expression for an argument of a tool, and record the argument's schema.

    The model provides the argument. Raises Untranslatable.
    """
    name = _ARGUMENT.sub("_", str(_plain(call.arguments[0]) if call.arguments else ""))[:60]
    if not name.strip("_"):
        raise Untranslatable("the argument's name is worked out")
    about = _plain(call.arguments[1]) if len(call.arguments) > 1 else ""
    kind = str(_plain(call.arguments[2]) if len(call.arguments) > 2 else "string").lower()
    schema: dict[str, Any] = (
        {} if kind == "json" else {"type": kind if kind in _KINDS else "string"}
    )
    if isinstance(about, str) and about:
        schema["description"] = about[:1000].replace("{{", "[[").replace("}}", "]]")
    found = path("item.arguments", (name,))
    if len(call.arguments) > 3 and isinstance(other := call.arguments[3], Literal):
        schema["default"] = other.value
        found = f"({found} | default({constant(other.value)}))"
    known.setdefault(name, schema)
    return found


def _plain(tree: Tree) -> object:
    """Return the value of a constant, including text in backquotes; None for anything else."""
    if isinstance(tree, Joined):
        parts = [_plain(part) for part in tree.parts]
        return "".join(map(str, parts)) if all(isinstance(one, str) for one in parts) else None
    return tree.value if isinstance(tree, Literal) else None


def _plain_keys(steps: Steps) -> tuple[Keys, Steps]:
    """Return the leading constant keys (up to a method, length or `?.`), and the other steps."""
    keys: list[str | int] = []
    for place, step in enumerate(steps):
        key = _constant_key(step)
        called = place + 1 < len(steps) and isinstance(steps[place + 1], FunctionCall)
        optional = isinstance(step, Member) and step.optional and place > 0
        if key is None or called or optional or key == "length":
            return tuple(keys), steps[place:]
        keys.append(key)
    return tuple(keys), []


def _constant_key(step: Member | FunctionCall | None) -> str | int | None:
    key = step.key if isinstance(step, Member) else None
    value = key.value if isinstance(key, Literal) else None
    return value if isinstance(value, (str, int)) and not isinstance(value, bool) else None
