"""Accounts with a UUID as key, named by their email address; without username and first name."""

import uuid
from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models


class PersonManager(BaseUserManager):
    """A manager whose `create_user` takes other arguments than Django's."""

    def create_user(self, email: str, team: str, password: str | None = None) -> "Person":
        person = self.model(email=self.normalize_email(email), team=team)
        person.set_password(password)
        person.save(using=self._db)
        return person

    def create_superuser(self, email: str, password: str, team: str = "it") -> "Person":
        person = self.create_user(email, team, password)
        person.is_superuser = person.is_staff = True
        person.save(using=self._db)
        return person


class Person(AbstractBaseUser, PermissionsMixin):
    uid = models.UUIDField(primary_key=True, default=uuid.uuid4, db_column="person_uid")
    email = models.EmailField(unique=True)
    team = models.CharField(max_length=40, blank=True, default="")
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["team"]

    objects = PersonManager()

    class Meta:
        db_table = "staff people"

    def __str__(self) -> str:
        return self.email


class Membership(models.Model):
    """A model with a name that Valkyr's models have, too."""

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="memberships")
    club = models.CharField(max_length=40)

    def __str__(self) -> str:
        return f"{self.person} in {self.club}"
