"""Small charts: every count above zero is visible, and none leaves the drawing."""

from hypothesis import given
from hypothesis import strategies as st

from dlq.admin.groups_page import HEIGHT, LEAST, bars, sparkline

COUNTS = st.lists(st.integers(0, 10**12), max_size=60)


@given(COUNTS)
def test_each_count_above_nothing_has_a_bar_within_the_drawing(counts: list[int]) -> None:
    drawn = bars(counts)

    assert len(drawn) == sum(count > 0 for count in counts)
    for bar in drawn:
        assert LEAST <= bar.height <= HEIGHT
        assert abs(bar.y + bar.height - HEIGHT) < 1e-6
        assert 0 <= bar.x < 4 * len(counts)


@given(COUNTS.filter(any))
def test_the_greatest_count_is_as_high_as_the_drawing(counts: list[int]) -> None:
    assert max(bar.height for bar in bars(counts)) == HEIGHT


def test_a_chart_says_in_words_what_it_shows_and_escapes_them() -> None:
    drawn = sparkline([1, 0, 2], 'three & "more"')

    assert 'aria-label="three &amp; &quot;more&quot;"' in drawn
    assert drawn.count("h-3z") == 2
