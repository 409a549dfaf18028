"""Remove secrets from results and logs."""

from runners.secrets.scrubbing import Scrubber, scrubbed_logs

__all__ = [
    "Scrubber",
    "scrubbed_logs",
]
