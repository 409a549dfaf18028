"""The URLs of second factors."""

from django.urls import path

from valkyr_plugins.mfa import views

urlpatterns = [
    path("mfa/", views.overview, name="valkyr-mfa"),
    path("mfa/begin", views.begin, name="valkyr-mfa-begin"),
    path("mfa/confirm", views.confirm, name="valkyr-mfa-confirm"),
    path("mfa/passkeys/add", views.add_passkey, name="valkyr-mfa-passkey"),
    path("mfa/passkeys/<uuid:pk>/remove", views.remove_passkey, name="valkyr-mfa-passkey-remove"),
    path("mfa/codes", views.renew_codes, name="valkyr-mfa-codes"),
    path("mfa/remove", views.remove, name="valkyr-mfa-remove"),
    path("mfa/code", views.code, name="valkyr-mfa-code"),
    path("mfa/again", views.again, name="valkyr-mfa-again"),
    path("mfa/leave", views.leave, name="valkyr-mfa-leave"),
]
