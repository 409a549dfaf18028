"""The admin, under another name."""

from django.contrib.admin import AdminSite


class Backoffice(AdminSite):
    site_header = "Backoffice"

    def __init__(self, name: str = "backoffice") -> None:
        super().__init__(name)
