"""Tasks of a project with Django's Tasks framework, enqueued in a shell and run by its worker."""

from tests.hosts.project import HostProject

TASKS = """
try:
    from django.tasks import task
except ImportError:
    from django_tasks import task


@task(takes_context=True)
def double(context, number):
    return [2 * number, context.attempt]


@task
async def broken():
    raise LookupError("nothing there")
"""
ENQUEUE = """
import time
from django.db import transaction
from django.utils import timezone
from {module} import broken, double

with transaction.atomic(using="{alias}"):
    good = double.enqueue(21)
    late = double.using(priority=50, run_after=timezone.now()).enqueue(4)
    bad = broken.enqueue()
with transaction.atomic(using="{alias}"):
    lost = double.enqueue(1)
    transaction.set_rollback(True, using="{alias}")
until = time.monotonic() + 60
while not all(one.is_finished for one in (good, late, bad)) and time.monotonic() < until:
    time.sleep(0.1)
    for one in (good, late, bad):
        one.refresh()
try:
    double.get_result(lost.id)
except Exception as error:
    print(type(error).__name__)
print(good.return_value, late.return_value, bad.status, bad.errors[0].exception_class.__name__)
"""


def run(project: HostProject, module: str, alias: str = "default") -> None:
    """Enqueue tasks in transactions of Valkyr's database: committed tasks run, tasks rolled back do
    not.
    """
    command = ENQUEUE.format(module=module, alias=alias)
    said = project.manage("shell", "--verbosity", "0", "--command", command)

    assert said.splitlines() == [
        "TaskResultDoesNotExist",
        "[42, 1] [8, 1] FAILED LookupError",
    ], project.logs()
