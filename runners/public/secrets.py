"""Keep secrets out of results and logs."""

from runners.secrets.log_scrubbing import scrubbed_logs
from runners.secrets.scrubbing import Scrubber

__all__ = [
    "Scrubber",
    "scrubbed_logs",
]
