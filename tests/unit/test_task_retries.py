"""Celery's own retries of Valkyr's tasks hold a message in a worker for at most 10 s."""

from executions.messaging import celery_app


def test_no_retry_waits_longer_than_the_page_on_celery_says() -> None:
    app = celery_app()
    app.loader.import_default_modules()
    waits = {
        name: task.retry_backoff_max
        for name, task in app.tasks.items()
        if name.startswith(("executions.", "runners.", "dlq.")) and hasattr(task, "retry_backoff")
    }

    assert "executions.fire_cron" in waits
    assert max(waits.values()) <= 10
