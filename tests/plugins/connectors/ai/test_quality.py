"""`quality.assess` computes its published formula, checked by hand and by properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.modules import registry
from valkyr_plugins.connectors.ai import quality

WORD = "tea"
FIFTY = " ".join([WORD] * 50)
# Results of the formula, computed by hand: text, keywords, target, the four dimensions, the score.
VECTORS = [
    ("nothing", "", [], None, (0, 0, 1, 1), 0.4),
    ("nothing where something was asked for", "", ["tea"], 100, (0, 0, 0, 0), 0),
    ("one word", "tea", [], None, (0.01, 0.25, 1, 1), 0.478),
    ("a sentence", "Tea is green.", ["tea", "milk"], 6, (0.03, 0.75, 0.5, 0.5), 0.434),
    ("two paragraphs, one of them without an end", f"{FIFTY}.\n\n{FIFTY}", ["tea"], 200,
     (1, 0.75, 1, 0.5), 0.825),
    ("twice as long as asked for", f"# Tea\n\n{FIFTY}.", [], 25, (0.51, 1, 1, 25 / 51),
     0.3 * 0.51 + 0.3 + 0.2 + 0.2 * 25 / 51),
    ("a list", "Teas\n- green\n- black", [], None, (0.03, 0.75, 1, 1), 0.634),
    ("a keyword within a word does not count", "Steam.", ["tea"], None, (0.01, 0.75, 0, 1), 0.428),
    ("a phrase in other capitals does", "GREEN TEA.", ["Green tea"], None,
     (0.02, 0.75, 1, 1), 0.631),
    ("Chinese, where each character is a word", "绿茶很好。", ["绿茶"], 4,
     (0.04, 0.75, 1, 1), 0.637),
]  # fmt: skip
NAMES = ("completeness", "coherence", "relevance", "length")
texts = st.text(max_size=400)
keywords = st.lists(st.text(min_size=1, max_size=12), max_size=5)
targets = st.none() | st.integers(1, 500)


@pytest.mark.parametrize("vector", VECTORS, ids=[vector[0] for vector in VECTORS])
def test_the_score_is_the_one_computed_by_hand(vector):
    _, text, words, target, dimensions, score = vector

    found = quality.assess(text, keywords=words, target_words=target)

    assert [found.dimensions[name].score for name in NAMES] == pytest.approx(dimensions, abs=1e-6)
    assert found.score == pytest.approx(score, abs=1e-6)


def test_the_outcome_is_true_from_the_threshold_on(step_context):
    module = registry.get("quality.assess")
    given = {"text": "Teas\n- green\n- black"}

    assert module.run(given | {"threshold": 0.634}, step_context).outcome == "true"
    result = module.run(given | {"threshold": 0.635}, step_context)

    assert result.outcome == "false"
    assert result.outputs["dimensions"]["completeness"]["reason"] == "3 of 100 words"
    module.Outputs.model_validate(result.outputs)


def test_a_weight_changes_how_much_a_dimension_counts(step_context):
    weights = {"completeness": 0, "coherence": 0, "length": 0}
    given = {"text": "Tea.", "keywords": ["tea", "milk"], "weights": weights}

    assert registry.get("quality.assess").run(given, step_context).outputs["score"] == 0.5


@given(texts, keywords, targets)
def test_every_score_is_from_0_to_1(text, words, target):
    found = quality.assess(text, keywords=words, target_words=target)

    assert all(0 <= dimension.score <= 1 for dimension in found.dimensions.values())
    assert 0 <= found.score <= 1


@given(texts, st.integers(1, 200))
def test_more_of_the_same_words_is_never_less_complete(text, more):
    longer = text + " tea" * more

    assert (
        quality.assess(longer).dimensions["completeness"].score
        >= quality.assess(text).dimensions["completeness"].score
    )


@given(texts, st.lists(st.sampled_from(["tea", "milk", "sugar"]), min_size=1, max_size=3))
def test_naming_the_keywords_makes_a_text_fully_relevant(text, words):
    found = quality.relevance(f"{text} {' '.join(words)} ", words)

    assert found.score == 1
    assert found.score >= quality.relevance(text, words).score


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_nothing_is_nearer_to_the_target_than_the_target(words, target):
    assert quality.length(target, target).score == 1
    closer = words + (words < target) - (words > target)
    assert quality.length(closer, target).score >= quality.length(words, target).score


@given(st.lists(st.sampled_from(["No end", "An end.", "# Heading", "- item"]), max_size=8))
def test_one_more_paragraph_that_ends_properly_is_never_less_coherent(paragraphs):
    more = quality.coherence([*paragraphs, "It ends."]).score

    assert more >= quality.coherence(paragraphs).score
