"""The company's own tasks."""

from celery import shared_task


@shared_task(bind=True)
def letter(self, words):
    return [words, self.request.delivery_info["routing_key"]]
