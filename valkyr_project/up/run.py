"""Run one stack, from the first check to the end of the last process."""

import os
import shlex
import socket
import sys
import time
from collections.abc import Sequence

import psutil

from valkyr_project.embedded import ServerError
from valkyr_project.image.client import ProcessImage
from valkyr_project.up import environment as credentials_file
from valkyr_project.up import processes
from valkyr_project.up.environment import SECRETS_FILE, StackCredentials, stack_environment
from valkyr_project.up.home import Home, open_home
from valkyr_project.up.options import BESIDE, PROJECT, Options, UpError, home_folder, parse
from valkyr_project.up.output import Output, say
from valkyr_project.up.prepare import prepare
from valkyr_project.up.processes import FILE as TARGETS
from valkyr_project.up.processes import probes, specs
from valkyr_project.up.supervisor import Servers, StopRequest, Supervisor

# Check that the ports for users are free, before anything is started.


def require_free(port: int, variable: str) -> None:
    """Raise UpError if a port is in use, or not allowed; the error names the variable to set."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            raise UpError(
                f"This account may not use port {port} ({variable}). Set {variable} to a "
                "number above 1023."
            ) from None
        except OSError:
            raise UpError(
                f"Port {port} ({variable}) is in use{_holder(port)}. "
                f"Stop that program or set {variable} to another port."
            ) from None


def _holder(port: int) -> str:
    """Return ` by NAME (process N)`, or ` by another program` if the system gives no details."""
    try:
        for connection in psutil.net_connections("tcp"):
            listening = connection.status == psutil.CONN_LISTEN
            if listening and connection.laddr.port == port and connection.pid:
                name = psutil.Process(connection.pid).name()
                return f" by {name} (process {connection.pid})"
    except (psutil.Error, OSError):
        return " by another program"
    return " by another program"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the stack until it is stopped; return 1 if it could not start or keep running."""
    begin = time.monotonic()
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments)
        stop_request = StopRequest()
        home = open_home(options.home)
        try:
            _run(options, home, stop_request, begin)
        finally:
            home.close()
    except (UpError, ServerError) as error:
        print(f"\nmake up: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("\nStopped.")
    return 0


def _run(options: Options, home: Home, stop_request: StopRequest, begin: float) -> None:
    require_free(options.port, "PORT")
    require_free(options.flower_port, "FLOWER_PORT")
    credentials = credentials_file.load(options.home)
    servers = Servers(options, options.home)
    image = ProcessImage(PROJECT, home.logs / "image.log")
    try:
        servers.launch()
        environment = _environment(options, credentials, servers)
        # The image loads the code while the servers start.
        image.launch(environment)
        servers.wait()
        for server in servers.embedded:
            say(f"  {type(server).__name__.lower():<15} ready")
        if (found := _environment(options, credentials, servers)) != environment:
            image.close()  # another process took a port in the meantime
            environment = found
            image.launch(environment)
        admin_state = prepare(image, environment)
        say(f"  {'tables':<15} ready")
        table = processes.served(specs(options, credentials), options)
        output = Output(home.logs, [spec.name for spec in table])
        supervisor = Supervisor(
            table, probes(options), environment, image, servers, output, stop_request
        )
        stop_request.interrupts = False
        try:
            _announce(home, options, servers, ready=False)
            supervisor.start()
            if supervisor.wait_until_ready():
                _announce(home, options, servers, ready=True)
                seconds = time.monotonic() - begin
                say(closing_block(options, credentials, admin_state, seconds))
            supervisor.watch()
        finally:
            stop_request.wanted = True
            say("\nStopping (workers finish their steps; press Ctrl-C again to stop at once)")
            supervisor.stop()
            output.close()
    finally:
        image.close()
        servers.stop()
    say("Stopped; the data is kept.")


def _environment(
    options: Options, credentials: StackCredentials, servers: Servers
) -> dict[str, str]:
    return stack_environment(options, credentials, servers.database_url, servers.redis_url)


def _announce(home: Home, options: Options, servers: Servers, *, ready: bool) -> None:
    home.announce(
        {
            "pid": os.getpid(),
            "url": options.web_url,
            "flower_url": options.flower_url,
            "database_url": servers.database_url,
            "redis_url": servers.redis_url,
            "ready": ready,
        }
    )


def closing_block(
    options: Options, credentials: StackCredentials, admin_state: str, seconds: float
) -> str:
    """Return the message that lists the stack's addresses and explains how to sign in."""
    stored = f"password in {options.home / SECRETS_FILE}"
    flower = f"user {credentials.username}, {stored} (FLOWER_PASSWORD)"
    return f"""
Valkyr is ready ({seconds:.1f} s).

  Admin     {options.web_url}/admin/
            user {credentials.username}, {_password(options, credentials, admin_state, stored)}
  API docs  {options.web_url}/docs
  Flower    {options.flower_url}/
            {flower}
  Metrics   {options.web_url}/metrics (for Prometheus, all processes: {options.home / TARGETS})
  Data      {options.home} (logs in logs/)
  Commands  {management_command(options, "<command>")}

Ctrl-C stops everything and keeps the data.
"""


def management_command(options: Options, command: str) -> str:
    """Return the shell command that runs a management command on this stack."""
    home = ""
    if options.home != home_folder({}):
        home = f"VALKYR_HOME={shlex.quote(str(options.home))} "
    if BESIDE == PROJECT:
        return f'{home}make manage ARGS="{command}"'
    return f"{home}valkyr manage {command}"


def _password(
    options: Options, credentials: StackCredentials, admin_state: str, stored: str
) -> str:
    if admin_state == "exists with another password":
        return (
            "with the password set earlier (forgotten? "
            f"{management_command(options, f'changepassword {credentials.username}')})"
        )
    if not credentials.password_is_ours:
        return "with the password from VALKYR_ADMIN_PASSWORD"
    if admin_state == "created":
        return f"password {credentials.password} (kept in {SECRETS_FILE} below)"
    return f"{stored} (VALKYR_ADMIN_PASSWORD)"
