"""The management commands of the app `dlq`: `python manage.py <name>`."""
