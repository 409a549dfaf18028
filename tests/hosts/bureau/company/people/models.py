"""Accounts are people, who are parties; former accounts stay in the table."""

import uuid

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models


class Present(BaseUserManager):
    def get_queryset(self):
        return super().get_queryset().filter(gone=False)

    def create_user(self, mail, password=None, **more):
        person = self.model(mail=self.normalize_email(mail), **more)
        person.set_password(password)
        person.save(using=self._db)
        return person

    def create_superuser(self, mail, password=None, **more):
        return self.create_user(mail, password, is_superuser=True, **more)


class Party(models.Model):
    uid = models.UUIDField(primary_key=True, default=uuid.uuid4, db_column="party uid")
    gone = models.BooleanField(default=False)


class Person(Party, AbstractBaseUser, PermissionsMixin):
    mail = models.EmailField(unique=True, db_column="E-Mail")
    people = Present()
    USERNAME_FIELD = "mail"
    EMAIL_FIELD = "mail"

    class Meta:
        db_table = "company people"

    @property
    def is_staff(self):
        return self.is_superuser

    @property
    def is_active(self):
        return not self.gone
