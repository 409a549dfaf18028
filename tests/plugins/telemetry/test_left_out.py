"""Without the plugin, an installation makes no spans in any environment."""

from tests.support.left_out import run_without

PROGRAM = """
import sys
import django
django.setup()
import runners.pipeline.execute
import valkyr_project.asgi
import valkyr_project.celery
from celery.signals import before_task_publish
from executions.public.tracing import outgoing
from runners.ports import trace_run
print(outgoing(), trace_run.provided, before_task_publish.receivers)
# redis-py imports OpenTelemetry's metrics where they are installed.
ours = ("opentelemetry.sdk.trace", "opentelemetry.exporter", "valkyr_plugins")
print([name for name in sys.modules if name.startswith(ours)])
"""


def test_left_out_it_sees_nothing_and_is_not_imported() -> None:
    done = run_without(PROGRAM, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")

    assert done.stdout.splitlines() == ["{} False []", "[]"], done.stderr
