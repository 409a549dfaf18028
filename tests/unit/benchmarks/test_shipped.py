"""The work that `--only shipped` sends, and the results that it reads."""

import pytest

from tests.benchmarks import shapes
from tests.benchmarks.cpu import Usage
from tests.benchmarks.plan import PARTS
from tests.benchmarks.shipped import told
from tests.benchmarks.shipped.client import Stretch
from tests.benchmarks.shipped.full_tables import SENT
from tests.benchmarks.shipped.goals import GOALS
from tests.benchmarks.shipped.loads import EVERY, LOADS, PLAIN
from tests.benchmarks.shipped.rounds import Rounds
from tests.benchmarks.sides import Repetition

CHAIN = next(load for load in EVERY if load.name == "chain-effect")
NONE = Usage(0, 0, 0, 0)


def test_every_load_has_a_peer_and_counts_the_steps_of_its_graph() -> None:
    assert set(LOADS) <= set(PARTS)
    assert set(SENT) <= {load.name for load in EVERY}
    for load in EVERY:
        assert len(load.document["tasks"]) == load.steps
        assert PLAIN[load.plain].steps == load.steps
        assert not load.bare or shapes.BY_NAME[load.bare][1] == load.steps


def test_new_workflows_share_the_executions_of_a_cold_load_at_any_scale() -> None:
    [cold] = (load for load in EVERY if load.anew)
    assert cold.sized(0.01) == cold.sized(1.0)
    assert cold.sized(1.0) % cold.anew == 0


def test_a_ratio_is_of_one_round_and_cpu_is_told_by_process() -> None:
    rounds = Rounds(
        CHAIN,
        shipped=[Stretch(100, 1.0, {"web": 0.1, "postgres": 0.2}), Stretch(100, 4.0, {"web": 0.3})],
        plain=[Repetition(100, 2.0, 0, NONE), Repetition(100, 4.0, 0, NONE)],
    )

    found = rounds.figures()

    assert found["shipped.chain-effect.ratio"] == pytest.approx((2.0 + 1.0) / 2)
    assert found["shipped.chain-effect.cpu_ms"] == pytest.approx(3.0)
    assert found["shipped.chain-effect.cpu_ms.web"] == pytest.approx(2.0)
    assert found["shipped.chain-effect.cpu_ms.postgres"] == pytest.approx(1.0)
    assert "shipped.chain-effect.bare.rate" not in found


def test_stretches_add_up() -> None:
    both = Stretch(10, 1.0, {"web": 0.1}) + Stretch(30, 3.0, {"web": 0.1, "beat": 0.2})
    assert (both.rate, both.cpu) == (10.0, {"web": 0.2, "beat": 0.2})


def test_tables_hold_what_was_measured_alone(capsys: pytest.CaptureFixture[str]) -> None:
    told.say_all({"W1e.ratio": 1.0})
    assert capsys.readouterr().out == ""

    figures = {
        "shipped.chain-effect.rate": 800.0,
        "shipped.chain-effect.ratio": 1.5,
        "shipped.chain-effect.cpu_ms": 1.8,
        "shipped.chain-effect.cpu_ms.flower": 0.25,
    }
    told.say_all(figures)

    said = capsys.readouterr().out
    assert "MISSED by 50%" in said
    assert "flower" in said
    assert told.rates(figures) == [(CHAIN.title, "800", "", "", "1.50", "", "1.80", "", "")]


def test_goals_name_figures_that_parts_make() -> None:
    loads = {load.name for load in EVERY} | {"http", "answered", "first_line", "full"}
    for goal in GOALS:
        assert goal.figure == "idle.memory" or goal.figure.split(".")[1] in loads
