"""What pruning did, or would do, in words."""

from collections.abc import Iterator

from django.template.defaultfilters import filesizeformat

from dlq.retention.tally import PruningTally


def of_tally(tally: PruningTally, *, bytes_: int | None = None) -> Iterator[str]:
    """A line about what goes, and one for each reason for which others stay."""
    parts = "".join(f", {number:,} {part}" for part, number in tally.parts.items() if number)
    span = f", from {tally.first:%Y-%m-%d} to {tally.last:%Y-%m-%d}" if _spans(tally) else ""
    size = f", about {filesizeformat(bytes_)}".replace("\xa0", " ") if bytes_ else ""
    more = " (time was over: there is more)" if tally.more else ""
    yield f"{tally.kind:<14}{tally.rows:>12,}{parts}{span}{size}{more}"
    for reason, number in tally.kept.most_common():
        yield f"{'':<14}{number:>12,} stay: {reason}"


def _spans(tally: PruningTally) -> bool:
    return tally.first is not None and tally.last is not None
