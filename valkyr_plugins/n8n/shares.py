"""Measure the shares of mapped nodes and workflows over many exports."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from valkyr_plugins.n8n.export import Export
from valkyr_plugins.n8n.report import CHANGED, LEFT, MAPPED, STATUSES, ImportReport

NOTE = "note"
NAMED = {MAPPED: "as they are", CHANGED: "with a change", LEFT: "left"}
MAX_REASON = 120


@dataclass(slots=True)
class Shares:
    """Counts over exports: nodes per status, without notes, and workflows without a LEFT node.

    `left` counts the LEFT nodes per type and operation; `reasons` counts them per reason.
    """

    files: int = 0
    whole: int = 0
    ready: int = 0
    unreadable: int = 0
    notes: int = 0
    nodes: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, export: Export, report: ImportReport, problems: int) -> None:
        """Count a workflow; it is ready if no problems prevent it from being published."""
        self.files += 1
        self.ready += not problems
        self.whole += not report.counts()[LEFT]
        kinds = {node.name: (node.kind, node.parameters) for node in export.nodes}
        for row in report.rows:
            if row.module == NOTE:
                self.notes += 1
                continue
            self.nodes[row.status] += 1
            if row.status != LEFT:
                continue
            kind, parameters = kinds[row.node]
            self.left[_called(kind, parameters)] += 1
            self.reasons[f"{kind}: {row.remarks[-1][:MAX_REASON] if row.remarks else ''}"] += 1

    def told(self, top: int) -> dict[str, Any]:
        """Return the counts and the shares, with the most frequent LEFT nodes."""
        return {
            "files": self.files, "unreadable": self.unreadable,
            "whole": self.whole, "ready": self.ready,
            "nodes": {status: self.nodes[status] for status in STATUSES}, "notes": self.notes,
            "shares": {
                **{status: _share(self.nodes[status], self.nodes.total()) for status in STATUSES},
                "whole": _share(self.whole, self.files), "ready": _share(self.ready, self.files),
            },
            "left": dict(self.left.most_common(top)),
            "reasons": dict(self.reasons.most_common(top)),
        }  # fmt: skip

    def lines(self, top: int) -> Iterator[str]:
        """Yield the counts and the shares as lines of text."""
        told = self.told(top)
        total = self.nodes.total()
        yield f"{self.files} workflows, {self.unreadable} unreadable files"
        yield f"{total} nodes without notes, and {self.notes} notes:"
        for status, name in NAMED.items():
            yield f"  {told['shares'][status]:5.1f} %  {self.nodes[status]:>7}  {name}"
        known = self.nodes[MAPPED] + self.nodes[CHANGED]
        yield f"  {_share(known, total):5.1f} %  {known:>7}  mapped, as they are or with a change"
        with_notes = _share(known + self.notes, total + self.notes)
        yield f"  {with_notes:5.1f} %  {known + self.notes:>7}  mapped, if notes count as nodes"
        yield f"  {told['shares']['whole']:5.1f} %  {self.whole:>7}  workflows without a node left"
        yield f"  {told['shares']['ready']:5.1f} %  {self.ready:>7}  workflows ready to publish"
        for title, counts in (("Most nodes left:", self.left), ("Reasons:", self.reasons)):
            if counts and top:
                yield title
            yield from (f"  {count:>7}  {name}" for name, count in counts.most_common(top))


def _called(kind: str, parameters: Any) -> str:
    words = [parameters.get(key) for key in ("resource", "operation", "mode")]
    named = [word for word in words if isinstance(word, str) and 0 < len(word) < 60]
    return json.dumps(kind)[1:-1] + (f" ({': '.join(named)})" if named else "")


def _share(count: int, total: int) -> float:
    return round(100 * count / total, 1) if total else 0.0
