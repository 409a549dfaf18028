from django.apps import AppConfig


class PeopleConfig(AppConfig):
    name = "tests.projects.people"
    label = "people"
