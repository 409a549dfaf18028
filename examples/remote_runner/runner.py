"""A remote runner: lease steps over HTTP and execute them with your own functions, in threads.

    VALKYR_URL=http://… VALKYR_TOKEN=vlk_… python runner.py handlers.py --queue remote --slots 4

`handlers.py` holds HANDLERS, functions by name: each gets a Job and returns the step's outputs, or
raises. The failure is permanent, unless it is a network error or has an `error_type` (TRANSIENT,
TIMEOUT), perhaps with a `retry_after` in seconds. After SIGTERM, it ends once the running steps are
done.
"""

import argparse
import logging
import os
import random
import runpy
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import httpx

PASSING = (ConnectionError, TimeoutError, httpx.TransportError)
log = logging.getLogger("runner")
stopping = threading.Event()


class Job:
    """One step to execute; send `key` to other systems, so that they do nothing twice."""

    def __init__(self, run, heard):
        self.run, self.inputs, self.credential = run, run["inputs"], run["credential"]
        self.key, self.attempt = run["idempotencyKey"], run["attempt"]
        self.until = time.monotonic() + run["timeoutSeconds"]
        self.unwanted = threading.Event()  # check it periodically, and return once it is set
        self.heard = heard  # before the request that last gave or renewed the lease was sent
        self.last_details, self.details = run["lastDetails"], None  # set `details` to save progress
        self.target_timeout = run["targetTimeoutSeconds"]  # of a call of the step's target, or None
        self.outcome = "success"  # set it for another outcome
        self.costs = []  # the costs: {"model": "…", "inputTokens": 1, "amount": "0.01", …}
        self.over = threading.Event()


def pause(tries, answer=None):
    """Wait longer after each attempt, with jitter, so that runners do not return together."""
    asked = answer.headers.get("Retry-After", "") if answer is not None else ""
    seconds = float(asked) if asked.isdigit() else min(30, 0.5 * 2 ** min(tries, 10))
    stopping.wait(seconds * random.uniform(0.5, 1.5))  # noqa: S311 - guards nothing


def tell(client, job, verb, seconds=30, **report):
    """Report on a job until it succeeds, a heartbeat once; return the answer, or None."""
    body, tries = {"leaseToken": job.run["leaseToken"], **report}, 0
    while time.monotonic() < job.until + 60:
        try:
            answer = client.post(f"/v1/Run/{job.run['id']}/{verb}", json=body, timeout=seconds)
            if answer.status_code < 500 and answer.status_code != 429:
                return answer
        except httpx.TransportError:
            answer = None
        log.warning("%s of %s was not heard: %s", verb, job.run["stepPath"], answer)
        if verb == "heartbeat":
            break  # the next one follows anyway
        pause(tries := tries + 1, answer)
    return None


def beat(client, job, seconds=30):
    """Send a heartbeat; return whether the job is still wanted."""
    sent = time.monotonic()
    answer = tell(client, job, "heartbeat", seconds, details=job.details)
    if answer is not None and not answer.json().get("wanted", answer.status_code not in (404, 409)):
        job.unwanted.set()
    elif answer is not None and answer.status_code == 200:
        job.heard = sent
    return not job.unwanted.is_set()


def keep_alive(client, job, third):
    """Send heartbeats until the job is over or no longer wanted.

    A job that is out of time is not wanted, nor is one without a heartbeat for most of its lease,
    because another runner may get it next.
    """
    seconds = third
    while not job.over.wait(seconds):
        now = time.monotonic()
        left = job.heard + 2.1 * third - now
        if left < 0 or now > job.until or not beat(client, job, max(0.1, left / 4)):
            break
        seconds = third if job.heard >= now else 0.5
    job.unwanted.set()  # harmless once it is over


def attempt(handlers, job):
    """Run the step; return the report."""
    remote = job.run["module"] == "remote.step"
    name = job.inputs["handler"] if remote else job.run["module"]
    if name not in handlers:  # another runner may have a handler
        return "fail", {"error": f"No handler {name!r} here.", "errorType": "TRANSIENT"}
    try:
        outputs = handlers[name](job)
        return "complete", {"outputs": outputs, "outcome": job.outcome, "costs": job.costs}
    except Exception as error:
        log.exception("%s failed", job.run["stepPath"])
        kind = "TRANSIENT" if isinstance(error, PASSING) else "PERMANENT"
        report = {"error": f"{type(error).__name__}: {error}"[:2000], "costs": job.costs}
        report["retryAfter"] = getattr(error, "retry_after", None)
        return "fail", report | {"errorType": getattr(error, "error_type", kind)}


def work(client, handlers, run, slots, asked):
    """Execute one leased run, and report the result."""
    job = Job(run, asked)
    lease = datetime.fromisoformat(run["leaseUntil"]) - datetime.fromisoformat(run["heartbeatAt"])
    third = lease.total_seconds() / 3
    try:
        if not beat(client, job):
            return
        threading.Thread(target=keep_alive, args=(client, job, third), daemon=True).start()
        verb, report = attempt(handlers, job)
        answer = None if job.unwanted.is_set() else tell(client, job, verb, **report)
        if answer is not None and answer.status_code == 422:  # cannot be stored
            error = answer.json()["detail"]
            answer = tell(client, job, "fail", error=error, errorType="PERMANENT")
        log.info("%s: %s %s", run["stepPath"], verb, getattr(answer, "status_code", "unheard"))
    finally:
        job.over.set()
        slots.release()


def serve(client, handlers, options, pool):
    """Lease a run for every free slot, until stopped."""
    slots, tries = threading.Semaphore(options.slots), 0
    ask = {"runnerId": options.name, "queues": options.queue, "waitSeconds": 5}
    while slots.acquire() and not stopping.is_set():
        answer, runs, asked = None, [], time.monotonic()
        try:
            answer = client.post("/v1/Run/lease", json=ask)
            runs, tries = answer.raise_for_status().json(), 0
        except httpx.HTTPError as error:
            log.warning("nothing leased: %r", error)
            pause(tries := tries + 1, answer)
        if not runs:
            slots.release()
        for run in runs:
            pool.submit(work, client, handlers, run, slots, asked)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    parser = argparse.ArgumentParser()
    parser.add_argument("handlers", help="a Python file that holds HANDLERS")
    parser.add_argument("--queue", action="append", required=True)
    parser.add_argument("--slots", type=int, default=4, help="steps at once")
    parser.add_argument("--name", default=f"{os.uname().nodename}-{os.getpid()}")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    signal.signal(signal.SIGINT, lambda *_: stopping.set())
    key = {"Authorization": f"Bearer {os.environ['VALKYR_TOKEN']}"}
    door = httpx.Client(base_url=os.environ["VALKYR_URL"], headers=key, timeout=30)
    with door, ThreadPoolExecutor(given.slots) as steps:  # waits for running steps
        serve(door, runpy.run_path(given.handlers)["HANDLERS"], given, steps)
