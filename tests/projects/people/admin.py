"""The project's own pages for its accounts, which must stay unchanged."""

from typing import ClassVar

from django.contrib import admin

from tests.projects.people.models import Membership, Person


@admin.register(Person)
class PersonAdmin(admin.ModelAdmin):
    list_display = ("email", "team", "is_staff")
    search_fields: ClassVar[list[str]] = ["email"]


@admin.register(Membership)
class ClubAdmin(admin.ModelAdmin):
    list_display = ("person", "club")
