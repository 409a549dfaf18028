"""The estimated score in the benchmark of pages follows Lighthouse's published curves."""

import pytest

from tests.benchmarks.first_content import CURVES, Visited, curve


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_has_lighthouses_fixed_points(name: str) -> None:
    p10, median, _ = CURVES[name]

    assert curve(median, p10, median) == pytest.approx(0.5)
    assert curve(p10, p10, median) == pytest.approx(0.9, abs=1e-4)
    assert curve(0, p10, median) == 1


def test_weights_add_up_and_a_fast_page_has_a_hundred() -> None:
    assert sum(weight for *_, weight in CURVES.values()) == pytest.approx(1)
    assert Visited("fast", 50, 200, 150, 250, 0, 0, 100).score == 100
    assert Visited("slow", 50, 1_600, 150, 2_400, 350, 0.25, 100).score == 50
