"""The address to which an OAuth 2.0 server sends a user after the consent."""

from django.urls import path

from valkyr_plugins.short_lived import views

urlpatterns = [
    path("credentials/oauth2/callback", views.callback, name="valkyr-oauth2-callback"),
]
