"""Clients that call the API repeatedly while other work runs."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.benchmarks.quantiles import Quantiles, quantiles

PAUSE = 0.05  # between two requests of one caller


@dataclass
class Caller:
    """One thread that repeats the same request."""

    client: httpx.Client
    method: str
    address: str
    body: dict[str, Any] | None = None
    sent: list[tuple[float, float]] = field(default_factory=list)  # when, and milliseconds
    failed: list[str] = field(default_factory=list)

    def run(self, stop: threading.Event) -> None:
        """Send requests until `stop` is set."""
        while not stop.wait(PAUSE):
            began = time.time()
            try:
                answer = self.client.request(self.method, self.address, json=self.body)
            except httpx.HTTPError as error:
                self.failed.append(f"{type(error).__name__}: {error}")
                continue
            self.sent.append((began, 1000 * (time.time() - began)))
            if not answer.is_success:
                self.failed.append(f"{answer.status_code} {answer.text[:200]}")

    def between(self, begin: float, end: float) -> list[float]:
        """Return the milliseconds of the requests sent between two times. Raise RuntimeError if a
        request failed.
        """
        if self.failed:
            raise RuntimeError(f"{len(self.failed)} requests failed, such as {self.failed[0]}")
        return [took for at, took in self.sent if begin <= at <= end]

    def quantiles(self) -> Quantiles:
        """Return the quantiles of all requests."""
        return quantiles(self.between(0, float("inf")))


@contextmanager
def calling(callers: Mapping[str, Caller]) -> Iterator[None]:
    """Run the callers during the block."""
    stop = threading.Event()
    threads = [threading.Thread(target=one.run, args=(stop,)) for one in callers.values()]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
