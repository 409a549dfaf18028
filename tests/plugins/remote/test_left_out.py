"""Queues of remote runners need the plugin."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from valkyr_project import plugins


def test_remote_queues_without_the_plugin_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_PLUGINS", "connectors")
    monkeypatch.setenv("VALKYR_REMOTE_QUEUES", "gpu")

    with pytest.raises(ImproperlyConfigured, match=r"VALKYR_REMOTE_QUEUES .* lacks 'remote'"):
        plugins.chosen()


def test_without_remote_queues_the_plugin_may_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_PLUGINS", "none")
    monkeypatch.delenv("VALKYR_REMOTE_QUEUES")

    assert plugins.chosen() == []
