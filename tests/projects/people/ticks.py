"""Run each of Valkyr's periodic tasks once, in this process; print failures, one task per line."""

import traceback

import django

django.setup()

from django.conf import settings  # noqa: E402 - after the set-up

from valkyr_project.celery import app  # noqa: E402


def main() -> None:
    app.loader.import_default_modules()
    done = 0
    for name in sorted({entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}):
        done += 1
        try:
            app.tasks[name]()
        except Exception:
            print(f"{name}: {traceback.format_exc(limit=-4)}")
    print(f"{done} done")


if __name__ == "__main__":
    main()
