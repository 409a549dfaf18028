"""The workflows of executions on other servers: a fork with a join, two queues, a retry."""

from tests.support.workflows import effect, task

TASKS = [
    task("begin"),
    *(effect(f"part{n}", after="begin", seconds=0.05) for n in range(3)),
    effect("join", after=["part0", "part1", "part2"], join="all"),
    {**effect("io", after="join"), "queue": "io"},
    effect("flaky", after="io", failTimes=1, retry={"maxAttempts": 3, "baseSeconds": 0.2}),
]
