"""Pages of people."""

from company.people.models import Person
from django.contrib import admin

admin.site.register(Person)
