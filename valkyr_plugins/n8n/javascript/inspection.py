"""Find the n8n names that a program reads, and the parts of it that have no equivalent here."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from valkyr_plugins.n8n.javascript.additions import BUFFER_CALLS, LOCALE_CALLS, in_english
from valkyr_plugins.n8n.javascript.scanning import (
    REGEX,
    SIGN,
    TEMPLATE,
    TEXT,
    WORD,
    ProgramToken,
    tokens,
)
from valkyr_plugins.n8n.secrecy import secret_name, secret_value, stand_in, without_secrets

NETWORK = "it makes requests ({}); make them with http.request, and hand the program the responses"
MODULES = "it loads modules ({}), which javascript.code does not have"
STATE = "it keeps data between executions ({}); keep them in a database"
FILES = "it reads or writes files of n8n's ({}); hand it their text"
SYSTEM = "it uses {}, which javascript.code does not have"
DATES = "it uses {}, and Luxon is not available; use JavaScript's Date"
LANGUAGES = "it formats for a language or a time zone ({}), which javascript.code cannot"
N8N = "it reads {} of n8n, which has no equivalent"
# Names that do not exist here unless the program itself declares them.
MISSING = {
    "require": MODULES, "import": MODULES, "module": MODULES, "exports": MODULES,
    "fetch": NETWORK, "axios": NETWORK, "XMLHttpRequest": NETWORK, "WebSocket": NETWORK,
    "$http": NETWORK, "$request": NETWORK, "$helpers": NETWORK, "helpers": NETWORK,
    "$getWorkflowStaticData": STATE, "getWorkflowStaticData": STATE,
    "$binary": FILES, "getBinaryDataAsync": FILES, "$getBinaryDataBuffer": FILES,
    "setTimeout": SYSTEM, "setInterval": SYSTEM, "setImmediate": SYSTEM, "process": SYSTEM,
    "URL": SYSTEM, "URLSearchParams": SYSTEM, "crypto": SYSTEM,
    "TextEncoder": SYSTEM, "TextDecoder": SYSTEM, "structuredClone": SYSTEM, "Blob": SYSTEM,
    "FormData": SYSTEM, "AbortController": SYSTEM, "document": SYSTEM, "window": SYSTEM,
    "DOMParser": SYSTEM, "global": SYSTEM, "Intl": LANGUAGES, "WebAssembly": SYSTEM,
    "$now": DATES, "$today": DATES, "DateTime": DATES, "Interval": DATES, "Duration": DATES,
    "luxon": DATES, "moment": MODULES, "cheerio": MODULES, "lodash": MODULES,
    "$runIndex": N8N, "$prevNode": N8N, "$parameter": N8N, "$evaluateExpression": N8N,
    "$jmespath": N8N, "$jmesPath": N8N, "$self": N8N, "$credentials": N8N, "$secrets": N8N,
    "$fromAI": N8N, "$item": N8N, "$fromai": N8N, "$nodeId": N8N, "$nodeVersion": N8N,
    "$position": N8N,
    "$pageCount": N8N, "$response": N8N, "$getPairedItem": N8N, "$webhookId": N8N, "$nodeName": N8N,
    "$thisItem": N8N, "$thisRunIndex": N8N, "$thisItemIndex": N8N, "$data": N8N, "$agentInfo": N8N,
    "$tool": N8N, "$if": N8N, "$ifEmpty": N8N, "$min": N8N, "$max": N8N, "$mode": N8N,
    "getNodeParameter": N8N, "getCredentials": N8N, "getInputData": N8N, "getNode": N8N,
    "getContext": N8N, "getExecutionId": N8N, "evaluateExpression": N8N,
}  # fmt: skip
# Methods and fields of any object that exist only in n8n or need locale data.
MEMBERS = {
    "helpers": NETWORK, "httpRequest": NETWORK, "httpRequestWithAuthentication": NETWORK,
    "getWorkflowStaticData": STATE, "getBinaryDataBuffer": FILES, "prepareBinaryData": FILES,
    "binary": FILES, "getNodeParameter": N8N, "getCredentials": N8N, "getInputData": N8N,
    "isExecuted": N8N,
}  # fmt: skip
INPUTS = frozenset(("items", "item", "$json", "$input", "$items", "$itemIndex"))
READS = frozenset(("all", "first", "last", "item", "itemMatching"))
LOCAL_TIME = re.compile(r"(?:get|set)(?:FullYear|Month|Date|Day|Hours|Minutes|TimezoneOffset)")
OUTER = frozenset(("$env", "$vars", "$workflow", "$execution"))
_DECLARES = frozenset(("const", "let", "var", "function", "class"))
_BLOCKS = frozenset(("if", "for", "while", "switch", "catch", "with", "await"))
MAX_NAMES, MAX_ENDS = 200, 100
_ESCAPES = {"{": "\\x7b", "%": "\\x25", "#": "\\x23"}


class Unsupported(Exception):
    """A program uses something that has no equivalent here; the message names it."""


@dataclass(slots=True)
class Uses:
    """The data that a program reads: its items, other nodes, and variables as (object, key).

    `buffer` and `english` are true if the program needs these additions; `single` is true if each
    end of the program returns exactly one item.
    """

    items: bool = False
    nodes: dict[str, None] = field(default_factory=dict)
    outer: dict[tuple[str, str], None] = field(default_factory=dict)
    local_time: bool = False
    buffer: bool = False
    english: bool = False
    single: bool = False
    source: str = ""


def inspected(source: str) -> Uses:
    """Return the data that a program reads. Raises Unsupported or UnreadableProgram."""
    return _Inspection(tokens(source), source).uses()


class _Inspection:
    def __init__(self, found: list[ProgramToken], source: str) -> None:
        self.tokens = found
        self.source = source
        self.partners = _partners(found)
        self.declared = set(self._declared())

    def uses(self) -> Uses:
        uses = Uses()
        for place, token in enumerate(self.tokens):
            if token.kind == WORD:
                self.word(place, token.text, uses)
        self.secrets()
        uses.single = self.single()
        uses.source = self.without_templates()
        return uses

    def at(self, place: int) -> str:
        """Return the text of the token at a position; "" outside the program."""
        return self.tokens[place].text if 0 <= place < len(self.tokens) else ""

    def word(self, place: int, name: str, uses: Uses) -> None:
        if self.at(place - 1) in (".", "?."):
            self.member(place, name, uses)
        elif self.is_key(place):
            if name == "binary":
                raise Unsupported(FILES.format("binary"))
        elif name in MISSING and name not in self.declared:
            raise Unsupported(MISSING[name].format(name))
        elif name not in self.declared:
            self.given(place, name, uses)

    def given(self, place: int, name: str, uses: Uses) -> None:
        """Record a name that n8n provides to the program. Raises Unsupported."""
        if name == "Buffer":
            if self.at(place + 1) not in (".", "?.") or self.at(place + 2) not in BUFFER_CALLS:
                raise Unsupported(SYSTEM.format(f"Buffer.{self.at(place + 2)}"))
            uses.buffer = True
        elif name in ("$", "$node", "$items"):
            self.node(place, name, uses)
        elif name in OUTER:
            uses.outer[name, self.outer(place, name)] = None
        elif name in INPUTS:
            uses.items = True
            if name == "$input":
                self.reads(place + 1, "$input")

    def member(self, place: int, name: str, uses: Uses) -> None:
        if name in MEMBERS:
            raise Unsupported(MEMBERS[name].format(name))
        if name in LOCALE_CALLS:
            if not in_english(self.tokens, place):
                raise Unsupported(LANGUAGES.format(name))
            uses.english = True
        if LOCAL_TIME.fullmatch(name) or name in LOCALE_CALLS:
            uses.local_time = True

    def is_key(self, place: int) -> bool:
        """Return whether a word is an object's key, and not a value."""
        return self.at(place + 1) == ":" and self.at(place - 1) in ("{", ",")

    def node(self, place: int, name: str, uses: Uses) -> None:
        """Record another node that the program reads. Raises Unsupported."""
        if name == "$node" and self.at(place + 1) in (".", "?."):
            uses.nodes[self.at(place + 2)] = None
            self.of_node(place + 3)
            return
        if name == "$items" and self.at(place + 2) == ")":
            uses.items = True
            return
        given = self.tokens[place + 2] if place + 2 < len(self.tokens) else None
        closed = self.at(place + 3) in (("]", ",", ")") if name != "$" else (")",))
        if given is None or not closed or given.kind not in (TEXT, TEMPLATE):
            raise Unsupported("it computes which node it reads")
        uses.nodes[_text(given)] = None
        if name == "$":
            self.reads(self.after(place + 1), f"$({given.text})")
        elif name == "$node":
            self.of_node(place + 4)

    def of_node(self, place: int) -> None:
        """Raise Unsupported unless the program reads only the JSON of a node."""
        if self.at(place) not in (".", "?.") or self.at(place + 1) != "json":
            raise Unsupported(N8N.format(f"{self.at(place + 1) or 'all'} of another node"))

    def reads(self, place: int, name: str) -> None:
        """Raise Unsupported unless the program reads only the items of an input or a node."""
        if self.at(place) not in (".", "?.") or self.at(place + 1) not in READS:
            what = self.at(place + 1) if self.at(place) in (".", "?.") else "more than the items"
            raise Unsupported(N8N.format(f"{what} of {name}"[:80]))
        called = self.at(place + 1) in ("all", "first", "last") and self.at(place + 2) == "("
        if called and self.at(place + 3) not in (")", "0"):
            raise Unsupported(N8N.format(f"another output of {name}"[:80]))

    def after(self, place: int) -> int:
        """Return the position after the bracket that closes the bracket at `place`."""
        return self.partners.get(place, len(self.tokens)) + 1

    def outer(self, place: int, name: str) -> str:
        """Return the key that the program reads from an object such as `$env` or `$workflow`.

        Raises Unsupported for a computed key.
        """
        if self.at(place + 1) in (".", "?."):
            return self.at(place + 2)
        given = self.tokens[place + 2] if place + 2 < len(self.tokens) else None
        if self.at(place + 1) == "[" and given is not None and given.kind == TEXT:
            return _text(given)
        raise Unsupported(N8N.format(f"all of {name}"))

    def secrets(self) -> None:
        """Raise Unsupported if a text of the program looks like a secret."""
        for place, token in enumerate(self.tokens):
            if token.kind not in (TEXT, TEMPLATE):
                continue
            name = self.at(place - 2) if self.at(place - 1) in ("=", ":") else ""
            text = token.text.strip("'\"")
            named = secret_value(name.strip("'\""), text) and not stand_in(text)
            if (named and secret_name(name)) or without_secrets(text) != text:
                raise Unsupported("it holds what looks like a secret; make a credential for it")

    def single(self) -> bool:
        """Return whether every end of the program returns one object, or a list of one."""
        ends = list(self._ends())
        return 0 < len(ends) <= MAX_ENDS and all(self.returns_one(place + 1) for place in ends)

    def returns_one(self, place: int) -> bool:
        if self.at(place) == "{":
            return self.at(self.after(place)) in (";", "}", "")
        if self.at(place) != "[" or self.at(place + 1) in ("]", "..."):
            return False
        last = self.after(place) - 1
        inner = self.tokens[place].depth + 1
        commas = [
            one for one in range(place + 1, last)
            if self.tokens[one].depth == inner and self.at(one) == ","
        ]  # fmt: skip
        return commas in ([], [last - 1]) and self.at(last + 1) in (";", "}", "")

    def _ends(self) -> Iterator[int]:
        """Yield the position of each `return` of the program itself, outside inner functions."""
        functions: list[int] = []  # depths of the function bodies around the token
        for place, token in enumerate(self.tokens):
            if token.text == "{" and token.kind == SIGN and self.is_body(place):
                functions.append(token.depth)
            elif token.text == "}" and functions and token.depth == functions[-1]:
                functions.pop()
            elif token.text == "return" and not functions and self.at(place - 1) not in (".", "?."):
                yield place

    def is_body(self, place: int) -> bool:
        """Return whether a brace opens the body of a function or a class."""
        if self.at(place - 1) == "=>":
            return True
        if self.at(place - 1) != ")":
            return "class" in (self.at(place - 2), self.at(place - 4))
        return self.at(self.partners.get(place - 1, 0) - 1) not in _BLOCKS

    def _declared(self) -> Iterator[str]:
        """Yield the names of variables, of functions, and of functions' arguments."""
        for place, token in enumerate(self.tokens):
            following = self.at(place + 1)
            if token.text in _DECLARES and token.kind == WORD:
                pattern = following in ("{", "[")
                yield from self.names(place + 1) if pattern else [following]
            if token.text == ")" and following in ("=>", "{"):
                opening = self.partners.get(place, 0)
                if following == "=>" or self.at(opening - 1) not in _BLOCKS:
                    yield from self.names(opening)
            elif token.kind == WORD and following == "=>":
                yield token.text

    def names(self, place: int) -> Iterator[str]:
        """Yield the words in a list of arguments or in a pattern."""
        for token in self.tokens[place + 1 : min(self.after(place) - 1, place + MAX_NAMES)]:
            if token.kind == WORD:
                yield token.text

    def without_templates(self) -> str:
        """Return the program without `{{`, `{%` and `{#`, which would begin a template here."""
        pieces: list[str] = []
        end = 0
        for token in self.tokens:
            pieces += [_opened(self.source[end : token.start]), self.written(token)]
            end = token.start + len(token.text)
        pieces.append(_opened(self.source[end:]))
        return _joined(pieces)

    def written(self, token: ProgramToken) -> str:
        if token.kind in (TEXT, TEMPLATE, REGEX):
            return re.sub(r"\{([{%#])", lambda match: "{" + _ESCAPES[match[1]], token.text)
        return token.text


def _partners(found: list[ProgramToken]) -> dict[int, int]:
    """Return a mapping between the positions of matching brackets."""
    partners: dict[int, int] = {}
    opened: list[int] = []
    for place, token in enumerate(found):
        if token.kind == SIGN and token.text in ("(", "[", "{"):
            opened.append(place)
        elif token.kind == SIGN and token.text in (")", "]", "}") and opened:
            partners[place] = opened.pop()
            partners[partners[place]] = place
    return partners


def _opened(space: str) -> str:
    """Return the white space or comments between tokens, with `{{`, `{%` and `{#` broken up."""
    return re.sub(r"\{(?=[{%#])", "{ ", space)


def _joined(pieces: list[str]) -> str:
    """Join the pieces of a program; if a join would create `{{`, `{%` or `{#`, insert a space."""
    found: list[str] = []
    for piece in pieces:
        if not piece:
            continue
        if found and found[-1].endswith("{") and piece[0] in _ESCAPES:
            found.append(" ")
        found.append(piece)
    return "".join(found)


def _text(token: ProgramToken) -> str:
    """Return the value of a text after its escapes are replaced."""
    text = token.text if token.kind == TEMPLATE else token.text[1:-1]
    return re.sub(
        r"\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\}|(.))",
        lambda match: match[3] or chr(int(match[1] or match[2], 16)),
        text,
    )
