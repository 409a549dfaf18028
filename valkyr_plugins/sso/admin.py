"""allauth's tables have no pages: who is linked is `manage.py link_sign_in`'s business."""

from django.apps import apps
from django.contrib import admin

for _label in ("account", "socialaccount"):
    for _model in apps.get_app_config(_label).get_models():
        if admin.site.is_registered(_model):
            admin.site.unregister(_model)
