"""Flower's command line, parsed by Flower itself."""

from flower.command import apply_options
from tornado.options import options

from valkyr_project.processes import commands


def test_flower_leaves_it_to_the_workers_whether_they_send_events() -> None:
    program = commands.flower("127.0.0.1", 5555, "someone:secret")
    before = options.as_dict()

    try:
        apply_options("flower", list(program.command[4:]))

        assert options.enable_events is False
        assert options.read_only is True
    finally:
        for name, value in before.items():
            setattr(options, name, value)
