"""The smoothness of a page: the times between frames, and the work of its main thread."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START = """() => {
  const times = []; let last = performance.now();
  const tick = (now) => { times.push(now - last); last = now; next = requestAnimationFrame(tick); };
  let next = requestAnimationFrame(tick);
  window.endFrames = () => { cancelAnimationFrame(next); return times.slice(1); };
}"""
# A file for the figures, which are useful only from a quiet machine.
FIGURES = os.environ.get("VALKYR_FIGURES", "")


@dataclass(frozen=True, slots=True)
class Frames:
    """The measurements during an action."""

    a_second: float
    worst: float  # milliseconds
    work: float  # CPU milliseconds of the main thread for each step of the action
    script: float  # of it in scripts


def during(page: Any, steps: int, act: Callable[[], None]) -> Frames:
    """Run an action of this number of steps; return the measurements."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = _spent(session)
    page.evaluate(START)
    act()
    times: list[float] = page.evaluate("() => window.endFrames()")
    after = _spent(session)
    session.detach()
    work, script = ((now - then) * 1000 / steps for now, then in zip(after, before, strict=True))
    return Frames(1000 * len(times) / max(1.0, sum(times)), max(times, default=0.0), work, script)


def _spent(session: Any) -> tuple[float, float]:
    told = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return told["TaskDuration"], told["ScriptDuration"]


def figure(name: str, value: Any) -> None:
    """Write a figure to a file, if requested."""
    if FIGURES:
        with Path(FIGURES).open("a") as file:
            file.write(f"{name}: {value}\n")
