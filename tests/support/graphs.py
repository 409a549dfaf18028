"""Random workflows: gates, error edges, joins, chains, failures and retries, bodies and waits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tests.support.behaviour import behave
from tests.support.interpreter import ERROR, Scope, Story, interpret

RETRY = {"maxAttempts": 3, "baseSeconds": 0.05, "jitter": [0, 0.05]}
ACTED = RETRY | {"baseSeconds": 600}  # with simulated time, the clock makes nothing due
CHOICES = ("left", "right", "middle")
PURE = ("pure", "pure", "pure", "gate", "gate", "bad")
FLAT = ("pure", "pure", "effect", "effect", "gate", "effect gate", "chain", "bad")


@dataclass
class Drawn:
    """A definition, and the behaviour of its steps; steps in `mended` were requeued and succeed."""

    document: dict[str, Any]
    attempts: int = 3
    mended: set[str] = field(default_factory=set)

    def story(self, entered: Callable[[str], bool] = lambda place: False) -> Story:
        """Return the expected result; an optional place is entered if `entered` returns true."""
        return interpret(self.document, self._act, entered=entered)

    def whole_story(self) -> Story:
        """Return the expected result if all optional places are entered."""
        return self.story(lambda place: True)

    def _act(self, path: str, module: Mapping[str, Any], scope: Scope) -> tuple[str, Any]:
        return behave(module, scope, attempts=self.attempts, mended=path in self.mended)


def draw(
    rng: Random,
    *,
    most: int = 12,
    retry: Any = None,
    seconds: float = 0.0,
    depth: int = 0,
    waits: float | None = None,
    steps: int = 80,
    undo: bool = False,
) -> Drawn:
    """Return a random workflow of one to `most` tasks. Its effect steps take up to `seconds`; 0 is
    for simulated time (tests/support/single_thread.py).

    Bodies are nested up to `depth` deep. Waiting steps wait up to `waits` seconds (None: there are
    none). About `steps` steps run at most. With `undo`, most tasks have one.
    """
    policy = retry or (RETRY if seconds else ACTED)
    drawer = _Drawer(rng, policy, seconds, waits, undo=undo)
    while True:
        body = drawer.body(_Around(), depth, most)
        document = {"schema": "valkyr/1", "name": "random", **body}
        drawn = Drawn(document, policy["maxAttempts"])
        if not depth or _load(drawn) <= steps:
            return drawn


def _load(drawn: Drawn) -> float:
    """Return about how many steps run; pure steps count little, because many run at once."""
    story = drawn.whole_story()
    return len(story.ends) - 0.8 * story.pure


@dataclass(frozen=True)
class _Around:
    """The names that steps of a body can use: counters of its place, and integer results of earlier
    tasks.
    """

    index: bool = False
    loop: bool = False
    numbers: tuple[str, ...] = ()
    kind: str = ""
    pure: bool = False  # only steps that run in memory

    def counters(self) -> list[str]:
        """Return expressions of integers that differ from place to place."""
        return ["index", "item"] * self.index + ["loop.index"] * self.loop

    def hiding(self, letter: str) -> "_Around":
        """Return the names without tasks that have this prefix, because the body's own tasks hide
        them.
        """
        seen = tuple(name for name in self.numbers if not name.startswith(f"tasks.{letter}"))
        return replace(self, numbers=seen)


class _Drawer:
    """Draws random bodies, which may contain bodies."""

    def __init__(
        self, rng: Random, retry: Any, seconds: float, waits: float | None, *, undo: bool
    ) -> None:
        self.undo = undo
        self.rng = rng
        self.retry = retry
        self.seconds = seconds
        self.waits = waits

    def body(self, around: _Around, depth: int, most: int, first: Any = ()) -> dict[str, Any]:
        """Draw `{tasks, edges}`; `first` are tasks to begin with, without predecessors."""
        tasks: list[dict[str, Any]] = list(first)
        edges: list[dict[str, str]] = []
        outcomes = {task["id"]: _outcomes(task) for task in tasks}
        before: dict[str, set[str]] = {task["id"]: set() for task in tasks}
        sure: set[str] = set()  # those whose output is certainly a whole number
        # Inner bodies sometimes give their tasks the names of outer ones.
        letter = self.rng.choice("tuv") if around.kind else "t"
        around = around.hiding(letter)
        for number in range(self.rng.randint(1, most)):
            name = f"{letter}{number}"
            join = "all" if self.rng.random() < 0.3 else "any"
            leading = self._edges(name, outcomes, join=join)
            sources = {edge["from"] for edge in leading}
            before[name] = sources.union(*(before[source] for source in sources))
            task = self._task(name, around, depth, before[name], sure)
            if join == "all":
                task["join"] = join
            tasks.append(task)
            edges += leading
            outcomes[name] = _outcomes(task)
            if not leading and task.get("use") == "flow.noop":
                sure.add(name)
        return {"tasks": tasks, "edges": edges}

    def _task(
        self, name: str, around: _Around, depth: int, before: set[str], sure: set[str]
    ) -> dict[str, Any]:
        kinds: list[str] = [*(PURE if around.pure else FLAT)]
        if self.waits is not None and not around.pure:
            kinds += ["wait", "wait"]
        if depth:
            kinds += ["loop", "loop", "map", "map", "map", "pure map"]
        kind = self.rng.choice(kinds)
        numbers = tuple(f"tasks.{task}.output" for task in sorted(before & sure))
        if kind in {"loop", "map", "pure map"}:
            inside = tuple(dict.fromkeys([*around.numbers, *numbers]))
            return getattr(self, f"_{kind.replace(' ', '_')}")(name, around, inside, depth - 1)
        values = [*around.counters(), *around.numbers, *numbers]
        if around.kind == "loop":
            values += [f"tasks.{task}.history | length" for task in sorted(before & sure)]
        task = getattr(self, f"_{kind.replace(' ', '_')}")(name, around, values)
        task |= {"retry": self.retry, "queue": self.rng.choice(["default", "default", "io"])}
        if self.undo and self.rng.random() < 0.7:
            task["undo"] = self._undo(name)
        return {"id": name, **task}

    def _undo(self, name: str) -> dict[str, Any]:
        given = {"value": f"{{{{ tasks.{name}.output }}}}", "failTimes": self.rng.choice([0, 0, 1])}
        return {"use": "test.effect", "with": given, "retry": self.retry}

    def _by_place(self, around: _Around, values: list[Any]) -> Any:
        """Return one of the values; in a body with several places, often an expression that differs
        by place.
        """
        counters = around.counters()
        if not counters or self.rng.random() < 0.3:
            return self.rng.choice(values)
        chosen = self.rng.choices(values, k=3)
        counter = " + ".join(self.rng.sample(counters, self.rng.randint(1, min(2, len(counters)))))
        return f"{{{{ {_literal(chosen)}[({counter}) % 3] }}}}"

    def _value(self, values: list[str]) -> Any:
        """Return an integer, often as an expression of the step's data."""
        if not values or self.rng.random() < 0.4:
            return self.rng.randint(0, 9)
        return f"{{{{ {self.rng.choice(values)} + {self.rng.randint(0, 2)} }}}}"

    def _pure(self, name: str, around: _Around, values: list[str]) -> dict[str, Any]:
        if around.kind == "loop" and self.rng.random() < 0.3:
            summed = f"{{{{ (loop.previous.{name} if loop.previous else 0) + 1 }}}}"
            return {"use": "flow.noop", "with": {"value": summed}}
        return {"use": "flow.noop", "with": {"value": self._value(values)}}

    def _effect(self, name: str, around: _Around, values: list[str]) -> dict[str, Any]:
        return {"use": "test.effect", "with": self._config(around, values)}

    def _config(self, around: _Around, values: list[str]) -> dict[str, Any]:
        """Return the inputs of an effect: mostly success, sometimes one or two failures first (the
        policy allows three attempts).
        """
        return {
            "value": self._value(values),
            "failTimes": self._by_place(around, [0, 0, 0, 0, 0, 1, 2]),
            "seconds": round(self.rng.random() * self.seconds, 3),
        }

    def _gate(self, name: str, around: _Around, values: list[str]) -> dict[str, Any]:
        chosen = self._by_place(around, [*CHOICES])
        return {"use": "flow.switch", "with": {"value": chosen, "cases": [*CHOICES]}}

    def _effect_gate(self, name: str, around: _Around, values: list[str]) -> dict[str, Any]:
        chosen = self._by_place(around, [*CHOICES])
        return {"use": "test.effect", "with": {"outcome": chosen, "outcomes": [*CHOICES]}}

    def _chain(self, name: str, around: _Around, values: list[str]) -> dict[str, Any]:
        modules = []
        for part in ("a", "b", "c")[: self.rng.randint(2, 3)]:
            use = self.rng.choice(["flow.noop", "test.effect"])
            seen = [*values, "previous"] if part != "a" else values
            config = {"value": self._value(seen)}
            if use == "test.effect":
                config = self._config(around, seen)
            modules.append({"id": part, "use": use, "with": config})
        return {"modules": modules}

    def _bad(self, name: str, around: _Around, values: list[str]) -> dict[str, Any]:
        """Return a module that fails permanently; in a body, only in some places."""
        if around.pure:
            # In every fourth place there is nothing.
            counter = self.rng.choice(around.counters())
            return {"use": "flow.noop", "with": {"value": f"{{{{ [1, 2, 3][{counter} % 4] }}}}"}}
        if self.rng.random() < 0.3:
            return {"use": "flow.fail", "with": {"message": "no"}}
        kind = self.rng.choice(["TRANSIENT", "PERMANENT"])
        times = self._by_place(around, [99, 99, 0]) if around.kind else 99
        return {"use": "test.effect", "with": {"failTimes": times, "errorType": kind}}

    def _wait(self, name: str, around: _Around, values: list[str]) -> dict[str, Any]:
        seconds = round(self.rng.random() * (self.waits or 0), 3)
        if self.rng.random() < 0.3:
            return {"use": "flow.delay", "with": {"seconds": seconds}}
        config: dict[str, Any] = {"seconds": seconds}
        if self.rng.random() < 0.3:
            config["outcome"] = self._by_place(around, [*CHOICES])
            config["outcomes"] = [*CHOICES]
        else:
            config["value"] = self._value(values)
            config["fail"] = self._by_place(around, [False] * 6 + [True])
        return {"use": "test.wait", "with": config}

    def _loop(
        self, name: str, around: _Around, numbers: tuple[str, ...], depth: int
    ) -> dict[str, Any]:
        inside = _Around(around.index, True, numbers, "loop")
        first: list[dict[str, Any]] = []
        kind = self.rng.choice(["count", "count", "gate", "sum", "previous", "index"])
        if kind == "count":
            config: dict[str, Any] = {"count": self._by_place(around, [0, 1, 2, 3])}
        elif kind == "gate":
            # Another outcome in each iteration, so that one of the first three is the last.
            shuffled = self.rng.sample(CHOICES, 3)
            chosen = f"{{{{ {_literal(shuffled)}[loop.index % 3] }}}}"
            use = self.rng.choice(["flow.switch", "test.effect"])
            told: dict[str, Any] = {"value": chosen, "cases": [*CHOICES]}
            if use == "test.effect":
                told = {"outcome": chosen, "outcomes": [*CHOICES]}
            first = [{"id": "g", "use": use, "with": told}]
            config = self._either("tasks.g.outcome", "==", "!=", repr(self.rng.choice(CHOICES)))
        elif kind in {"sum", "previous"}:
            before = "(loop.previous.n if loop.previous else 0)"
            summed = f"{{{{ {before} + 1 }}}}"
            first = [{"id": "n", "use": "flow.noop", "with": {"value": summed}}]
            config = {"until": f"{{{{ tasks.n.output >= {self.rng.randint(1, 3)} }}}}"}
            if kind == "previous":
                config = self._either(before, ">=", "<", str(self.rng.randint(0, 2)))
        else:
            config = self._either("loop.index", ">=", "<", str(self.rng.randint(0, 2)))
        if "count" not in config and self.rng.random() < 0.4:
            config["maxIterations"] = self.rng.randint(2, 4)
        body = self.body(inside, depth, 3 if depth else 4, first)
        return {"id": name, "use": "flow.loop", "with": config, "body": body}

    def _either(self, what: str, ends: str, goes_on: str, value: str) -> dict[str, Any]:
        if self.rng.random() < 0.5:
            return {"until": f"{{{{ {what} {ends} {value} }}}}"}
        return {"while": f"{{{{ {what} {goes_on} {value} }}}}"}

    def _map(
        self, name: str, around: _Around, numbers: tuple[str, ...], depth: int
    ) -> dict[str, Any]:
        count = self.rng.choice([0, 1, 2, 2, 3, 3, 4, 5])
        items: Any = [self.rng.randint(0, 9) for _ in range(count)]
        seen = [*around.counters(), *numbers]
        if seen and count and self.rng.random() < 0.5:
            shown = ", ".join(map(str, items[1:]))
            items = f"{{{{ [{self.rng.choice(seen)}, {shown}] }}}}"
        elif self.rng.random() < 0.05:
            items = "{{ 'no' + ' list' }}"
        config: dict[str, Any] = {"items": items}
        if self.rng.random() < 0.8:
            config["maxConcurrency"] = self.rng.randint(1, 3)
        if self.rng.random() < 0.8:
            config["onItemError"] = self.rng.choice(["fail", "continue"])
        inside = _Around(True, around.loop, numbers, "map")
        body = self.body(inside, depth, 3 if depth else 4)
        return {"id": name, "use": "flow.map", "with": config, "body": body}

    def _pure_map(
        self, name: str, around: _Around, numbers: tuple[str, ...], depth: int
    ) -> dict[str, Any]:
        """Return a map of many items; a worker takes a batch of them at a time."""
        config: dict[str, Any] = {"items": list(range(self.rng.choice([1, 6, 12, 25, 40])))}
        if self.rng.random() < 0.7:
            config["maxConcurrency"] = self.rng.randint(1, 5)
        config["onItemError"] = self.rng.choice(["fail", "continue", "continue"])
        inside = _Around(True, around.loop, numbers, "map", pure=True)
        return {"id": name, "use": "flow.map", "with": config, "body": self.body(inside, 0, 4)}

    def _edges(
        self, name: str, outcomes: dict[str, list[str]], *, join: str
    ) -> list[dict[str, str]]:
        """Draw edges into a task from some earlier tasks; sometimes none.

        Two edges from one source occur only with `join: any`: a source has one outcome.
        """
        rng = self.rng
        if not outcomes or rng.random() < 0.12:
            return []
        earlier = list(outcomes)
        sources = rng.sample(earlier, min(len(earlier), rng.choice([1, 1, 1, 2, 2, 3, 5])))
        edges = []
        for source in sources:
            ways = [*outcomes[source], ERROR] if rng.random() < 0.35 else outcomes[source]
            two = join == "any" and len(ways) > 2 and rng.random() < 0.2
            chosen = rng.sample(ways, 2 if two else 1)
            edges += [{"from": source, "to": name, "on": on} for on in chosen]
        return edges


def _outcomes(task: Mapping[str, Any]) -> list[str]:
    """Return the possible `on` values of edges out of a task."""
    config = task.get("with", {})
    found = config.get("cases") or config.get("outcomes")
    return [*found] if found else ["success"]


def _literal(values: list[Any]) -> str:
    """Return a list as an expression writes it."""
    words = {True: "true", False: "false"}
    written = [words[v] if isinstance(v, bool) else repr(v) for v in values]
    return f"[{', '.join(written)}]"
