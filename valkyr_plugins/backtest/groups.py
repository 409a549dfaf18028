"""Group equal differences of many executions, and count verdicts. This module is pure.

The summary's size does not depend on the number of executions: there are at most 2,000 steps and
200 groups, each group with at most ten examples and ten values.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from valkyr_plugins.backtest.verdicts import (
    DIFFERENT,
    BacktestVerdict,
    StepVerdict,
    VerdictReason,
    worst,
)

MAX_GROUPS = 200
MAX_STEPS = 2_000
MAX_EXAMPLES = 10
MAX_VALUES = 10
MAX_FIELDS = 3  # maximum fields named in a group's text
MAX_TEXT = 60
_TURN = re.compile(r"\[\d+\]")


def plain_path(path: str) -> str:
    """Return a step's path without the numbers of iterations: `refine.draft.main`."""
    return _TURN.sub("", path)


def task_of(path: str) -> str:
    """Return a step's name for display: its path without iterations and without `.main`."""
    return plain_path(path).removesuffix(".main")


@dataclass(slots=True)
class Summary:
    """The counts of a backtest's verdicts, and its groups of differences."""

    executions: Counter[str] = field(default_factory=Counter)
    steps: dict[str, Counter[str]] = field(default_factory=dict)
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    left_out: int = 0  # number of differences beyond the maximum number of groups

    @classmethod
    def read(cls, counts: Any, steps: Any, groups: Any) -> "Summary":
        """Return a summary from its stored parts; `groups` is the result of `as_json`."""
        found = cls(Counter(counts), {path: Counter(one) for path, one in steps.items()})
        found.left_out = groups.get("leftOut", 0)
        found.groups = {one["key"]: one for one in groups.get("groups", ())}
        return found

    def add(self, execution_id: UUID, verdicts: Iterable[StepVerdict]) -> BacktestVerdict:
        """Count one execution and its steps' verdicts; return the verdict on the execution."""
        found = list(verdicts)
        whole = worst(one.verdict for one in found)
        self.executions[str(whole)] += 1
        keys: set[str] = set()
        for one in found:
            path = plain_path(one.path)
            if path and (path in self.steps or len(self.steps) < MAX_STEPS):
                self.steps.setdefault(path, Counter())[str(one.verdict)] += 1
            if one.verdict is not BacktestVerdict.SAME:
                self._group(execution_id, path, one, keys)
        return whole

    def as_json(self) -> dict[str, Any]:
        """Return the groups, and the number of differences left out, as they are stored."""
        return {"groups": list(self.groups.values()), "leftOut": self.left_out}

    def by_step(self) -> dict[str, dict[str, int]]:
        """Return the counts of each step's verdicts, keyed by the path without iterations."""
        return {path: dict(counts) for path, counts in self.steps.items()}

    def _group(self, execution_id: UUID, path: str, one: StepVerdict, keys: set[str]) -> None:
        fields = sorted({_TURN.sub("[]", change.field) for change in one.changes})
        told = (
            plain_path(one.detail)
            if one.why in (VerdictReason.DEPENDS, VerdictReason.OUTCOME)
            else ""
        )
        key = "|".join([path, one.verdict, str(one.why or ""), one.recorded, told, *fields])
        if key in keys:
            return
        keys.add(key)
        group = self.groups.get(key)
        if group is None:
            if len(self.groups) >= MAX_GROUPS:
                self.left_out += 1
                return
            group = self.groups[key] = {
                "key": key, "stepPath": path, "verdict": str(one.verdict),
                "reason": None if one.why is None else str(one.why), "module": one.module,
                "recorded": one.recorded, "detail": one.detail, "fields": fields,
                "count": 0, "executions": [], "values": [], "before": [],
                "sample": one.as_json()["changes"],
            }  # fmt: skip
        group["count"] += 1
        if len(group["executions"]) < MAX_EXAMPLES:
            group["executions"].append(str(execution_id))
        shown = one.changes[:MAX_FIELDS]
        for name, values in (
            ("values", [_short(change.now) for change in shown]),
            ("before", [_short(change.recorded) for change in shown]),
        ):
            if values not in group[name] and len(group[name]) < MAX_VALUES:
                group[name].append(values)


def sorted_groups(groups: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return groups with differences, then the other groups, both sorted by descending count."""
    return sorted(groups, key=lambda one: (one["verdict"] not in DIFFERENT, -one["count"]))


def text_of(group: dict[str, Any], *, values: bool = True) -> str:
    """Return a group as a sentence; if `values` is false, the sentence contains no payload."""
    many = group["count"]
    start = "1 execution" if many == 1 else f"{many:,} executions"
    return f"{start}: {_what(group, values)}."


def _what(group: dict[str, Any], values: bool) -> str:  # noqa: PLR0911 - one for each reason
    name = f"step {task_of(group['stepPath'])}" if group["stepPath"] else "the workflow"
    outcome, then = group["detail"], group["recorded"]
    match VerdictReason(group["reason"]):
        case VerdictReason.INPUTS:
            return f"{name} would now be called with {_fields(group, values)}"
        case VerdictReason.CREDENTIAL:
            return f"{name} would now be called with another credential"
        case VerdictReason.NEW if group["verdict"] == BacktestVerdict.WOULD_CALL:
            return f"{name} would now be called, and was not called then"
        case VerdictReason.NEW:
            return f"{name} would now run, and did not run then"
        case VerdictReason.GONE:
            return f"{name} would not run"
        case VerdictReason.OUTCOME:
            return f"{name} would now have the outcome {outcome} instead of {then}"
        case VerdictReason.FAILS:
            return f"{name} would now fail" + (f": {outcome.rstrip('.')}" if values else "")
        case VerdictReason.OUTPUT:
            return f"{name} would now return {_fields(group, values)}"
        case VerdictReason.DEPENDS:
            source = f"step {task_of(outcome)}" if outcome else "the variables"
            return f"{name} cannot be compared, because the result of {source} is not known"
        case reason:
            return f"{name} cannot be compared: {BECAUSE[reason]}"


BECAUSE = {
    VerdictReason.RESULT_MISSING: "it had not ended, so that no result is recorded",
    VerdictReason.SEALED: "its payloads are sealed, and their key is not available",
    VerdictReason.MODULE_CHANGED: "with equal inputs its module returns another output than then",
    VerdictReason.NONDETERMINISTIC: "its inputs depend on the order of parallel steps",
    VerdictReason.TOO_LARGE: "it has too many steps or too much data",
    VerdictReason.UNAVAILABLE: "its module is not installed here",
}


def _fields(group: dict[str, Any], values: bool) -> str:
    names, sample = group["fields"], group["sample"]
    uniform_values = values and len(group["values"]) == 1 and len(sample) <= MAX_FIELDS
    is_whole = not names or not names[0]  # the whole value differs, because it has no fields
    if is_whole and not (uniform_values and names):
        return "other inputs" if group["reason"] == VerdictReason.INPUTS else "another output"
    whole = "inputs" if group["reason"] == VerdictReason.INPUTS else "output"
    named = [name or "value" for name in names[:MAX_FIELDS]]
    more = f" and {len(names) - MAX_FIELDS} more" if len(names) > MAX_FIELDS else ""
    if not uniform_values:
        return f"another {', '.join(named)}{more}"
    uniform = len(group["before"]) == 1 and group["reason"] != VerdictReason.NEW
    pairs = [
        f"{one['field'] or whole} {_short(one['now'])}"
        + (f" instead of {_short(one['recorded'])}" if uniform else "")
        for one in sample
    ]
    return ", ".join(pairs)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
