"""Read the executions with a label in order, from many ranges of the index `label_newest`.

Each pair of a workflow and a state is one range. One statement reads the next rows of every range.
A part of the result ends at the first ID after which a range may have further rows. The density of
the rows in each range determines how many are read next. So a list of 2,000 rows reads a few
thousand rows, not 2,000 from each range.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from uuid import UUID

from executions.database import statements

LOWEST, HIGHEST = UUID(int=0), UUID(int=2**128 - 1)
LARGEST_PART = 2_000
# Number of rows in the first part: about `FIRST_ROWS` of all ranges together, and at least `LEAST`
# of each.
FIRST_ROWS, LEAST = 2_000, 16
# Factor by which a part is larger than estimated, so that it seldom ends early.
MARGIN = 1.25

Range = tuple[UUID, str]


@dataclass(frozen=True, slots=True)
class LabelRanges:
    """The executions with one label, of given workflows and in given states, between two IDs."""

    name: str
    value: str
    workflows: Sequence[UUID]
    states: Sequence[str]
    ascending: bool = False
    above: UUID = LOWEST
    below: UUID = HIGHEST

    def parts(self, many: int) -> Iterator[list[UUID]]:
        """Yield all IDs in order, in parts; after the first `many` IDs, the parts become larger."""
        pairs = list(product(self.workflows, self.states))
        if not pairs:
            return
        first = max(LEAST, min(many, FIRST_ROWS // len(pairs)))
        sizes: Mapping[Range, int] = dict.fromkeys(pairs, first)
        wanted, rest = many, self
        while True:
            found = rest._read(sizes)
            ends = [ids[-1] for pair, ids in found.items() if len(ids) == sizes[pair]]
            part = self._sorted([pk for ids in found.values() for pk in ids])
            if ends:
                part = part[: part.index(self._sorted(ends)[0]) + 1]
            if part:
                yield part
            if not ends:
                return
            end = part[-1]
            rest = replace(rest, above=end) if self.ascending else replace(rest, below=end)
            wanted -= len(part)
            if wanted <= 0:
                wanted = many = min(4 * many, LARGEST_PART)
            sizes = dict.fromkeys(pairs, LEAST) | self._next_sizes(found, wanted)

    def _read(self, sizes: Mapping[Range, int]) -> dict[Range, list[UUID]]:
        """Return the next IDs of each range, in order."""
        rows = statements.fetch(
            "labelled_oldest" if self.ascending else "labelled_newest",
            {
                "name": self.name, "value": self.value, "above": self.above, "below": self.below,
                "workflows": [workflow for workflow, _ in sizes],
                "states": [state for _, state in sizes],
                "many": list(sizes.values()),
            },
        )  # fmt: skip
        pairs = list(sizes)
        found = defaultdict[Range, list[UUID]](list)
        for number, pk in rows:
            found[pairs[number - 1]].append(pk)
        return {pair: self._sorted(ids) for pair, ids in found.items()}

    def _sorted(self, ids: list[UUID]) -> list[UUID]:
        return sorted(ids, reverse=not self.ascending)

    def _next_sizes(self, found: Mapping[Range, list[UUID]], many: int) -> dict[Range, int]:
        """Return the number of rows to read next from each range, in total at least `many`.

        The density of the rows in `found` determines the numbers. IDs begin with a time, so the
        difference between two IDs is a duration.
        """
        start = self._sorted([ids[0] for ids in found.values()])[0].int
        dense = {pair: len(ids) / max(1, abs(start - ids[-1].int)) for pair, ids in found.items()}
        span = MARGIN * many / sum(dense.values())
        return {pair: LEAST + int(span * density) for pair, density in dense.items()}
