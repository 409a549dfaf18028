"""The type of keys that no model declares."""

from django.db import models


class Key(models.BigAutoField):
    pass
