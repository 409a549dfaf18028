"""One line a minute about a collector that does not answer, whatever the exporter thinks of it."""

import logging
import time

ABOUT = "opentelemetry"
SECONDS = 60.0


class Seldom(logging.Filter):
    """Lets one record of OpenTelemetry's own loggers through in a while, without a traceback."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        super().__init__()
        self._said = float("-inf")

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written."""
        if not record.name.startswith(ABOUT) or record.levelno < logging.WARNING:
            return True
        now = time.monotonic()
        if now - self._said < SECONDS:
            return False
        self._said = now
        record.exc_info = record.exc_text = None
        record.msg, record.args = f"spans are not exported: {record.getMessage()[:300]}", None
        return True
