"""No schema and no payload blocks a web process, or fills its memory.

`make fuzz ARGS="-k schema --seconds 600"` tries others for ten minutes.
"""

import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from executions.definition.graph.storable import storage_problems
from tests.fuzz.bounded import Bounded
from tests.fuzz.hostile import hostile_schemas, hostile_values

pytestmark = [
    pytest.mark.timeout(7200),
    # Of an example that is large on purpose when written out.
    pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning"),
]
# By default, the same ones each time.
USUAL = 150
# In one round; rounds repeat while there is time.
ROUND = 500


@pytest.fixture
def checking() -> Iterator[Bounded]:
    yield from _child("tests.fuzz.schemas_child")


def _child(module: str) -> Iterator[Bounded]:
    child = Bounded(module, [{"type": "string"}, "a"])
    yield child
    child.close()


def test_no_schema_exceeds_the_bounds(checking: Bounded, request: pytest.FixtureRequest) -> None:
    schemas = hostile_schemas().filter(lambda schema: not storage_problems({"input": schema}))
    pairs = st.tuples(schemas, hostile_values()).map(list)
    _search(checking, pairs, request)


def _search(
    child: Bounded, examples: st.SearchStrategy[object], request: pytest.FixtureRequest
) -> None:
    seconds = request.config.getoption("--seconds", default=None)
    until = time.monotonic() + (seconds or 0)
    tried = 0

    @settings(
        max_examples=ROUND if seconds else USUAL,
        derandomize=not seconds,
        database=None,
        deadline=None,
        phases=(Phase.generate,) if seconds else (Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(examples)
    def attempt(example: object) -> None:
        nonlocal tried
        if seconds and time.monotonic() > until:
            return
        tried += 1
        problem = child.attempt(example)
        assert not problem, f"{problem}: {str(example)[:1500]}"

    attempt()
    while time.monotonic() < until:
        attempt()
    print(f"\n{tried} tried; held at most {child.longest[0]:.3f} s: {child.longest[1][:300]}")
