"""Variables with types: what is no finite number is refused with the variable's name."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from executions import environment


@pytest.mark.parametrize("raw", ["soon", "nan", "inf", "-inf", "1e999"])
def test_a_number_is_finite(raw: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_TRIED", raw)

    with pytest.raises(ImproperlyConfigured, match="expected a number"):
        environment.integer("VALKYR_TRIED", 1)
