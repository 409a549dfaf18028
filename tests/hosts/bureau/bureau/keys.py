"""The default type of primary keys."""

from django.db import models


class Key(models.BigAutoField):
    pass
