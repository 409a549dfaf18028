"""Celery's commands, which start faster: `-m valkyr_project.messaging.celery_command worker …`.

Before it starts a worker, `python -m celery` loads a shell, Flower and the commands of every other
package. The garbage collector also examines the imported objects repeatedly, although they are
never freed before the process ends. Without these two costs, a process starts in two thirds of the
time and needs 12 MB less memory.
"""

import gc
import sys
from typing import Any

import click


def main() -> None:
    """Run the command (worker, beat or Flower) that the command line names in Celery's syntax."""
    gc.disable()
    from celery.bin.base import CLIContext

    from valkyr_project.celery import app

    group = click.Group("celery", commands=commands(sys.argv[1:2]))
    if "flower" in group.commands:  # it has no tasks
        from valkyr_project.messaging.flower_viewers import watch

        watch(app)
    else:
        app.loader.init_worker()
        app.finalize()
    gc.freeze()
    gc.enable()
    undecided: Any = None  # colours only in a terminal
    group.main(obj=CLIContext(app=app, no_color=undecided, workdir=None, quiet=True))


def commands(names: list[str]) -> dict[str, click.Command]:
    """Return those of the commands `worker`, `beat` and `flower` that are in `names`."""
    found: dict[str, click.Command] = {}
    if "worker" in names:
        from celery.bin.worker import worker

        found["worker"] = worker
    if "beat" in names:
        from celery.bin.beat import beat

        found["beat"] = beat
    if "flower" in names:
        from flower.command import flower  # type: ignore[import-untyped]

        found["flower"] = flower
    return found


if __name__ == "__main__":
    main()
