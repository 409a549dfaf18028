"""The loop of a running stack: it relays output, restarts processes and stops them in order.

A process that repeatedly ends right after its start is restarted with growing delays, and the other
processes keep running; but the stack stops if web was never ready. `failing_processes` reports the
process to web, which shows it on every page. Processes end before their servers. Servers and the
image start from the main thread, because the kernel ties their death signal to it.
"""

import queue
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import honcho.process
from honcho.printer import Message

from valkyr_project.embedded import Postgres, Redis, ServerError
from valkyr_project.image.client import ProcessImage
from valkyr_project.processes.commands import ProcessCommand
from valkyr_project.up.failing_processes import FailingProcesses
from valkyr_project.up.options import Options, UpError
from valkyr_project.up.output import Output, say
from valkyr_project.up.processes import ProcessSpec

# The embedded PostgreSQL and Redis of a stack, unless the environment names other servers.


class Servers:
    """Up to two embedded servers, and the URLs of PostgreSQL and Redis, embedded or not."""

    def __init__(self, options: Options, home: Path) -> None:
        """Prepare the servers for which the options have no URL, without starting them."""
        self.embedded: list[Postgres | Redis] = []
        self._database_url = options.database_url
        self._redis_url = options.redis_url
        if not options.database_url:
            self.embedded.append(Postgres(home))
        if not options.redis_url:
            self.embedded.append(Redis(home))

    def launch(self) -> None:
        """Start all embedded servers; their URLs are available afterwards."""
        for server in self.embedded:
            server.launch()

    def wait(self) -> None:
        """Wait until all embedded servers accept connections."""
        for server in self.embedded:
            server.wait()

    @property
    def database_url(self) -> str:
        """Return the URL of PostgreSQL."""
        found = [server.url for server in self.embedded if isinstance(server, Postgres)]
        return found[0] if found else self._database_url

    @property
    def redis_url(self) -> str:
        """Return the URL of Redis."""
        found = [server.url for server in self.embedded if isinstance(server, Redis)]
        return found[0] if found else self._redis_url

    def stop(self) -> None:
        """Stop the servers that were started, Redis before PostgreSQL."""
        for server in reversed(self.embedded):
            server.stop()


# A user or the system stops the stack with Ctrl-C, with SIGTERM or by closing the terminal.


class StopRequest:
    """A request to stop, made by signals; a second signal sets `insisted`.

    With `interrupts`, a signal raises KeyboardInterrupt, so that a start can be interrupted.
    """

    def __init__(self) -> None:
        """Handle the signals from now on."""
        self.wanted = False
        self.insisted = False
        self.interrupts = True
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._receive)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.insisted = self.wanted
        self.wanted = True
        if self.interrupts:
            self.interrupts = False
            raise KeyboardInterrupt


# A process of the stack is honcho's process class, with processes forked from the image.


class ChildProcess(honcho.process.Process):  # type: ignore[misc] # honcho has no types
    """Runs the process `spec`; a thread puts the process's output and end into `events`.

    If the supervisor is killed, the launcher and this process are killed too. A graceful end would
    be pointless, because the servers also stop; the engine survives kill -9 of its processes.
    """

    def __init__(self, spec: ProcessSpec, image: ProcessImage) -> None:
        """Prepare the process without starting it."""
        super().__init__(spec.command, name=spec.name)
        self.spec = spec
        self.started_at = time.monotonic()
        self._child_ctor = lambda command, **_: image.start(command, spec.environment)

    def launch(self, events: "queue.Queue[Message]") -> None:
        """Start a thread that starts the process and relays its output until the process ends."""
        self.started_at = time.monotonic()
        threading.Thread(target=self.run, args=(events,), name=self.name, daemon=True).start()

    @property
    def pid(self) -> int:
        """Return the process ID, or 0 before the start."""
        return self._child.pid if self._child else 0

    def alive(self) -> bool:
        """Return whether the process is running."""
        return self._child is not None and self._child.poll() is None

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process, not to its group, if the process is still running."""
        if self.alive():
            self._child.send_signal(number)

    def wait(self, seconds: float) -> bool:
        """Wait at most `seconds` for the process to end; return whether it ended."""
        deadline = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True


QUICK_SECONDS = 10.0
MOST_QUICK_DEATHS = 3
LONGEST_PAUSE = 30.0


@dataclass
class Restarts:
    """Counts the quick ends of one process; a run of at least QUICK_SECONDS resets the count."""

    quick_deaths: int = 0

    def after(self, lived_seconds: float) -> float:
        """Return how many seconds to wait before the next start, after a run of `lived_seconds`."""
        self.quick_deaths = self.quick_deaths + 1 if lived_seconds < QUICK_SECONDS else 0
        # The exponent is limited, because a process may fail for days.
        return min(LONGEST_PAUSE, 0.5 * 2.0 ** min(self.quick_deaths, 10))

    @property
    def failing(self) -> bool:
        """Return whether the process repeatedly ended right after its start."""
        return self.quick_deaths >= MOST_QUICK_DEATHS

    def settled(self, lived_seconds: float) -> bool:
        """Reset the count if a failing process now keeps running; return whether it was reset."""
        if not self.failing or lived_seconds < QUICK_SECONDS:
            return False
        self.quick_deaths = 0
        return True


PATIENCE_SECONDS = 60.0


class Supervisor:
    """Runs `specs` until a stop request, or until a server or the image cannot be kept running."""

    def __init__(
        self,
        specs: Sequence[ProcessSpec],
        probes: ProcessCommand,
        environment: Mapping[str, str],
        image: ProcessImage,
        servers: Servers,
        output: Output,
        stop_request: StopRequest,
    ) -> None:
        """Prepare the processes without starting them."""
        self._events: queue.Queue[Message] = queue.Queue()
        self._probes = probes
        self._environment = environment
        self._image = image
        self._servers = servers
        self._output = output
        self._stop_request = stop_request
        self._failing = FailingProcesses(environment)
        self._children = {spec.name: ChildProcess(spec, image) for spec in specs}
        self._restarts = {name: Restarts() for name in [*self._children, "image", "servers"]}
        self._due: dict[str, float] = {}
        self._ready: set[str] = set()

    def start(self) -> None:
        """Start all processes, and the process that probes them."""
        for child in self._children.values():
            child.launch(self._events)
        self._begin_asking()

    def wait_until_ready(self) -> bool:
        """Wait until all processes are ready; print a line for each process.

        Return False if a stop was requested first. The supervisor does not wait for processes that
        repeatedly end. Raises UpError if web is one of them.
        """
        notice_at = time.monotonic() + PATIENCE_SECONDS
        while set(self._children) - self._ready - self._failing.names:
            if self._stop_request.wanted:
                return False
            self._turn()
            if time.monotonic() > notice_at:
                notice_at += PATIENCE_SECONDS
                missing = ", ".join(sorted(set(self._children) - self._ready))
                say(f"Still waiting for {missing}; see their logs in the logs folder.")
        return True

    def watch(self) -> None:
        """Keep all processes running until a stop is requested.

        Raises UpError if PostgreSQL, Redis or the image cannot be kept running.
        """
        while not self._stop_request.wanted:
            self._turn()

    def stop(self) -> None:
        """Stop the processes stage by stage, with a time limit; a second request kills the rest."""
        for stage in sorted({child.spec.stop_stage for child in self._children.values()}):
            group = [c for c in self._children.values() if c.spec.stop_stage == stage]
            threads = [threading.Thread(target=self._end, args=(child,)) for child in group]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self._drain()

    def _end(self, child: ChildProcess) -> None:
        for number, seconds in child.spec.stop_steps:
            child.send(number)
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline and not self._stop_request.insisted:
                if child.wait(0.1):
                    return
        child.send(signal.SIGKILL)
        child.wait(5)

    def _turn(self) -> None:
        try:
            message = self._events.get(timeout=0.2)
        except queue.Empty:
            pass
        else:
            self._take(message)
        self._keep_image()
        self._start_due()
        self._note_recovered()
        self._keep_servers()

    def _take(self, message: Message) -> None:
        if message.type == "line":
            self._output.write(message)
        elif message.type == "ready" and message.name not in self._ready:
            self._ready.add(message.name)
            say(f"  {message.name:<15} ready")
        elif message.type == "stop" and not self._stop_request.wanted:
            self._died(message.name, message.data["returncode"])

    def _died(self, name: str, code: int) -> None:
        restarts = self._restarts[name]
        pause = restarts.after(time.monotonic() - self._children[name].started_at)
        self._due[name] = time.monotonic() + pause
        if not restarts.failing:
            say(f"{name} ended ({_ending(code)}); it restarts in {pause:.0f} s.")
            return
        if name == "web" and name not in self._ready:
            raise UpError(
                f"web ends right after each start ({_ending(code)}), so everything was "
                f"stopped. Its last lines:\n{self._output.last_lines(name)}"
            )
        if self._failing.add(name, _ending(code)):
            say(
                f"{name} ends right after each start ({_ending(code)}). It restarts every "
                f"{LONGEST_PAUSE:.0f} s; the other processes continue. Its last "
                f"lines:\n{self._output.last_lines(name)}"
            )

    def _note_recovered(self) -> None:
        for name in list(self._failing.names):
            child = self._children[name]
            if child.alive() and self._restarts[name].settled(time.monotonic() - child.started_at):
                self._failing.remove(name)
                say(f"{name} runs again.")

    def _start_due(self) -> None:
        now = time.monotonic()
        for name in [name for name, at in self._due.items() if at <= now]:
            del self._due[name]
            self._children[name] = ChildProcess(self._children[name].spec, self._image)
            self._children[name].launch(self._events)

    def _keep_servers(self) -> None:
        for server in self._servers.embedded:
            if server.alive():
                continue
            restarts = self._restarts["servers"]
            restarts.after(server.uptime())
            name = type(server).__name__
            if restarts.failing:
                raise UpError(f"{name} ends repeatedly. Its last lines:\n{server.last_lines()}")
            say(f"{name} ended unexpectedly; it restarts.")
            try:
                server.start()
            except ServerError as error:
                raise UpError(str(error)) from error

    def _keep_image(self) -> None:
        if self._image.alive():
            return
        restarts = self._restarts["image"]
        restarts.after(self._image.uptime())
        if restarts.failing:
            raise UpError(
                f"The process image ends repeatedly. Its last lines:\n{self._image.last_lines()}"
            )
        say("The process image ended unexpectedly; it restarts with its processes.")
        self._image.launch(self._environment)
        self._begin_asking()

    def _begin_asking(self) -> None:
        threading.Thread(target=self._ask, daemon=True).start()

    def _ask(self) -> None:
        """Read the names of processes that are ready, from the process that probes them."""
        asking = self._image.start(self._probes.command, self._probes.environment)
        with asking.stdout as lines:
            for line in lines:
                self._events.put(Message("ready", None, None, line.decode().strip(), None))
        asking.wait()

    def _drain(self) -> None:
        while not self._events.empty():
            message = self._events.get()
            if message.type == "line":
                self._output.write(message)


def _ending(code: int) -> str:
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"
