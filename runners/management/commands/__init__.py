"""The management commands of the app `runners`: `python manage.py <name>`."""
