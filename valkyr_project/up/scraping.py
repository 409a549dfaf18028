"""Where Prometheus finds each process of a stack: workers and beat get a free port each.

The addresses are kept in a file that Prometheus reads by itself (`file_sd_configs`), so nobody has
to choose ports, and two stacks on one machine do not meet.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from valkyr_project.embedded.child import free_port
from valkyr_project.up.options import Options
from valkyr_project.up.processes import ProcessSpec

FILE = Path("metrics") / "targets.json"


def served(table: Sequence[ProcessSpec], options: Options) -> list[ProcessSpec]:
    """The processes, Celery's with a port for their metrics; writes the file of targets."""
    counting = [spec.name for spec in table if spec.name.startswith(("worker", "beat"))]
    ports = {name: free_port() for name in counting}
    _write(options.home / FILE, {"web": options.port} | ports)
    return [_with_port(spec, ports.get(spec.name)) for spec in table]


def _with_port(spec: ProcessSpec, port: int | None) -> ProcessSpec:
    if port is None:
        return spec
    return replace(spec, environment={**spec.environment, "VALKYR_METRICS_PORT": str(port)})


def _write(path: Path, ports: dict[str, int]) -> None:
    path.parent.mkdir(exist_ok=True)
    targets = [
        {"targets": [f"127.0.0.1:{port}"], "labels": {"process": name}}
        for name, port in ports.items()
    ]
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(targets, indent=2) + "\n")
    fresh.replace(path)  # at once: Prometheus may read at any time
