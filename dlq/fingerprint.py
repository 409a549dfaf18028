"""What makes two failures the same: workflow, step, class of error, shape of the message."""

import hashlib
import re
from uuid import UUID

RULE = 1  # grows when the rule below changes, so that old and new fingerprints never mix

_URL = re.compile(r"\bhttps?://\S+")
_UUID = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_PATH = re.compile(r"(?:/[\w.\-]+){2,}")
_HEX = re.compile(r"\b(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{8,}\b")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def normalise(message: str) -> str:
    """The first line of a message with addresses, ids, quotes, paths and numbers taken out."""
    text = message.strip().splitlines()[0] if message.strip() else ""
    for pattern, mark in (
        (_URL, "<url>"),
        (_UUID, "<id>"),
        (_QUOTED, "<text>"),
        (_PATH, "<path>"),
        (_HEX, "<hex>"),
        (_NUMBER, "<n>"),
    ):
        text = pattern.sub(mark, text)
    return re.sub(r"\s+", " ", text)[:300]


def place_of(step_path: str) -> str:
    """The path without iterations: refine[2].draft and refine[3].draft fail alike."""
    return re.sub(r"\[\d+\]", "[]", step_path)


def fingerprint(workflow_id: UUID, step_path: str, error: str, message: str) -> str:
    """Lower-case hex SHA-256 that equal failures share, whatever ids and numbers they name."""
    parts = f"{RULE}\n{workflow_id}\n{place_of(step_path)}\n{error}\n{normalise(message)}"
    return hashlib.sha256(parts.encode()).hexdigest()
