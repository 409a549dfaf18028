"""The project's settings, with the bare view and the token endpoint alone."""

from valkyr_project.settings import *  # noqa: F403 - all of them

ROOT_URLCONF = "tests.benchmarks.bare"
