"""Chaos on RabbitMQ: its broker is started before Django is set up with its address."""

import os
import sys

from tests.support.running import output_of


def test_rabbitmq_is_known_before_django_is_set_up() -> None:
    unset = {name: value for name, value in os.environ.items() if not name.startswith("VALKYR_")}
    command = [sys.executable, "-c", "import tests.chaos.servers.rabbit; print('known')"]
    assert output_of(command, environment=unset) == "known\n"
