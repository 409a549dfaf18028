"""Let programs outside Valkyr's workers lease, execute and report runs."""

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
from runners.gates.gates import LeasePassage, ask_all
from runners.gates.held_permits import keep
from runners.modules.base import Wait
from runners.pipeline.active_run import MAX_DETAILS_BYTES
from runners.pipeline.claim_run import held_seconds
from runners.pipeline.end_run import Looked, look
from runners.pipeline.leased_runs import (
    Leasable,
    costs_of,
    prepare_runs,
    question,
    record_failure,
    record_success,
    reveal,
    scrubber,
    turn_away,
)
from runners.pipeline.reveal_secrets import uses_secrets
from runners.ports import traceparents
from runners.segment.context import SegmentContext
from runners.segment.step_context import MAX_AMOUNT, MAX_MODELS, MAX_NAME, Expense

__all__ = [
    "MAX_AMOUNT",
    "MAX_DELAY_SECONDS",
    "MAX_DETAILS_BYTES",
    "MAX_FINGERPRINT",
    "MAX_MESSAGE_CHARACTERS",
    "MAX_MODELS",
    "MAX_NAME",
    "PREPARE",
    "TRANSPORT",
    "Expense",
    "Failure",
    "Leasable",
    "LeasePassage",
    "Looked",
    "SegmentContext",
    "Wait",
    "ask_all",
    "classify",
    "config",
    "costs_of",
    "held_seconds",
    "keep",
    "look",
    "prepare_runs",
    "question",
    "record_failure",
    "record_success",
    "reveal",
    "scrubber",
    "storable_text",
    "traceparents",
    "turn_away",
    "uses_secrets",
]
