"""System checks that reject settings with which Valkyr cannot work."""

from typing import Any
from urllib.parse import urlsplit

from django.core.checks import CheckMessage, Error, register

from executions import messaging
from executions.checks import with_settings
from executions.configuration import settings as valkyr_settings
from executions.definition.graph.model import DEFAULTS
from executions.definition.limits import limits
from runners.conf import config
from runners.modules.registry import specs
from runners.process.memory_limit import ISOLATED, WORKER

NAMED = 5  # maximum number of modules named in a message
LEAST_MEMORY = 512  # address space that a process needs to start, in MiB


@register()
@with_settings
def public_address(**_: Any) -> list[CheckMessage]:
    """Check that the address for callbacks is an HTTP URL without a query or fragment."""
    address = valkyr_settings().public_url
    parts = urlsplit(address)
    if parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment):
        return []
    return [
        Error(
            f"VALKYR_PUBLIC_URL is {address!r}; other systems cannot reach this address.",
            hint="Expected an address such as https://valkyr.example.org, with or without a path.",
            id="runners.E003",
        )
    ]


@register()
@with_settings
def timings(**_: Any) -> list[CheckMessage]:
    """Check that the lease, heartbeat, stall limit and visibility timeout fit together."""
    found: list[CheckMessage] = []
    limits = config()
    if limits.heartbeat * 2 > limits.lease:
        found.append(
            Error(
                f"VALKYR_HEARTBEAT_SECONDS is {limits.heartbeat:g} and VALKYR_LEASE_SECONDS is "
                f"{limits.lease:g}: one late renewal would lose the lease.",
                hint="Set the lease to at least twice the heartbeat.",
                id="runners.E001",
            )
        )
    if limits.stall < 0 or limits.stall >= limits.lease:
        found.append(
            Error(
                f"VALKYR_STALL_SECONDS is {limits.stall:g} and VALKYR_LEASE_SECONDS is "
                f"{limits.lease:g}: leases of a stalled process would end before it is noticed.",
                hint="Set it below the lease, for example to half of it; 0 starts no watchdog.",
                id="runners.E004",
            )
        )
    conf = messaging.celery_app().conf
    visibility = (conf.broker_transport_options or {}).get("visibility_timeout")
    if not messaging.is_redis(messaging.broker_url()):
        visibility = None
    if visibility is not None and visibility <= limits.segment_seconds:
        found.append(
            Error(
                f"visibility_timeout in broker_transport_options is {visibility} s. A message may "
                f"carry {limits.segment_seconds:g} s of work: the broker would deliver it twice.",
                hint=f"Set it above {limits.segment_seconds:g}, e.g. 900; in the stand-alone "
                "platform by VALKYR_VISIBILITY_TIMEOUT.",
                id="runners.E002",
            )
        )
    return found


@register()
@with_settings
def memory(**_: Any) -> list[CheckMessage]:
    """Check that each memory limit is 0 or large enough for a process to start."""
    limits = config()
    return [
        Error(
            f"{name} is {megabytes}: a process that executes steps needs more to start.",
            hint=f"Set it to {LEAST_MEMORY} or more, or to 0 for no limit.",
            id="runners.E005",
        )
        for name, megabytes in ((WORKER, limits.worker_memory), (ISOLATED, limits.isolated_memory))
        if 0 < megabytes < LEAST_MEMORY
    ]


@register("workers")
@with_settings
def thread_queues(**_: Any) -> list[CheckMessage]:
    """Check that CPU-bound modules do not use queues whose workers run threads.

    Only the queues that VALKYR_THREAD_QUEUES adds to the defaults are checked; a CPU-bound module
    with the queue `io` is rejected when it is declared.
    """
    by_queue: dict[str, list[str]] = {}
    named = limits().thread_queues - DEFAULTS.thread_queues
    for spec in specs().values() if named else ():
        if spec.computes and not spec.inline and spec.queue in named:
            by_queue.setdefault(spec.queue, []).append(spec.type)
    return [
        Error(
            f"VALKYR_THREAD_QUEUES names {queue!r}, the queue of modules that compute "
            f"({_some(types)}): each would stop all other steps of its process.",
            hint=f"Remove {queue!r} from it, so that processes serve this queue.",
            id="runners.E006",
        )
        for queue, types in sorted(by_queue.items())
    ]


def _some(types: list[str]) -> str:
    more = len(types) - NAMED
    return ", ".join(sorted(types)[:NAMED]) + (f" and {more} more" if more > 0 else "")
