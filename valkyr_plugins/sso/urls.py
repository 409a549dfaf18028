"""The URLs of single sign-on; without a provider in the settings, they respond with 404."""

from django.urls import path

from valkyr_plugins.sso import views

urlpatterns = [
    path("sso/begin", views.begin, name="valkyr-sso-begin"),
    path("sso/callback", views.callback, name="valkyr-sso-callback"),
]
