"""A server that speaks the protocols of AWS (S3, STS, KMS): moto, in a separate process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.support.waiting import wait_until
from valkyr_project.embedded.child import free_port


@contextmanager
def aws_server() -> Iterator[str]:
    """Start the server; yield its address when it answers."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: _answers(address), 60, "moto's answer")
        yield address
    finally:
        server.terminate()
        server.wait(10)


def _answers(address: str) -> bool:
    try:
        return httpx.get(address, trust_env=False).status_code < 500
    except httpx.HTTPError:
        return False
