"""Runs that programs outside our workers lease, do and report."""

from runners.conf import config
from runners.dispatch.messages import PREPARE_REMOTE as PREPARE
from runners.dispatch.messages import TRANSPORT
from runners.failures.classification import (
    MAX_FINGERPRINT,
    MAX_MESSAGE_CHARACTERS,
    Failure,
    classify,
)
from runners.failures.failure_text import storable_text
from runners.failures.retry import MAX_DELAY_SECONDS
from runners.pipeline.end_run import Looked, look
from runners.pipeline.lease_renewal import MAX_DETAILS_BYTES
from runners.pipeline.leased_runs import (
    prepare_runs,
    record_failure,
    record_success,
    refuse,
    reveal,
    scrubber,
)
from runners.pipeline.reveal_secrets import uses_secrets
from runners.ports import traceparents

__all__ = [
    "MAX_DELAY_SECONDS",
    "MAX_DETAILS_BYTES",
    "MAX_FINGERPRINT",
    "MAX_MESSAGE_CHARACTERS",
    "PREPARE",
    "TRANSPORT",
    "Failure",
    "Looked",
    "classify",
    "config",
    "look",
    "prepare_runs",
    "record_failure",
    "record_success",
    "refuse",
    "reveal",
    "scrubber",
    "storable_text",
    "traceparents",
    "uses_secrets",
]
