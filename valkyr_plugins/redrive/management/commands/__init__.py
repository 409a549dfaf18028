"""Commands for operators: `python manage.py <name>`."""
