"""Previews and progress of redrives, as lines in a terminal."""

from collections.abc import Iterator

from dlq.models import Redrive
from dlq.redrive.preview import Preview
from dlq.redrive.progress import progress

LISTED = 10


def of_preview(found: Preview) -> Iterator[str]:
    """What a redrive would do; no inputs, since a terminal's scroll-back is kept."""
    yield f"{found.runs:,} would run, in about {found.seconds:,.0f} s."
    if found.truncated:
        yield "There are more; these are the oldest."
    for skipped in found.skipped:
        yield f"  {skipped.count:,} would be skipped: {skipped.reason}"
    for effect in found.effects:
        yield (
            f"  {effect.step} ({effect.module}, {effect.effect}) would happen again: "
            f"{effect.count:,}"
        )
    for change in found.definition_changes:
        changes = " ".join(change.changes) or "No task differs."
        yield f"  version {change.before} -> {change.after}: {changes}"
    if found.rejected:
        yield f"  of {found.checked:,} tried, inputs of {len(found.rejected):,} would not fit:"
    for rejected in found.rejected[:LISTED]:
        yield f"    {rejected.entry_id}: {'; '.join(rejected.problems)}"


def of_progress(redrive: Redrive) -> str:
    """One line; equal as long as nothing moves."""
    now = progress(redrive)
    parts = [
        f"{now.queued:,} queued",
        f"{now.running:,} running",
        f"{now.succeeded:,} succeeded",
        f"{now.failed_again:,} failed again",
        f"{now.skipped:,} skipped",
    ]
    if now.aborted:
        parts.append(f"{now.aborted:,} not sent")
    return f"{redrive.state}: {', '.join(parts)}"
