"""The URLs of the API for remote runners."""

from django.urls import path

from valkyr_plugins.remote import api

urlpatterns = [
    path("v1/Run/lease", api.LeaseRun.as_view(), name="valkyr-run-lease"),
    path("v1/Run/<uuid:id>/heartbeat", api.HeartbeatRun.as_view(), name="valkyr-run-heartbeat"),
    path("v1/Run/<uuid:id>/complete", api.CompleteRun.as_view(), name="valkyr-run-complete"),
    path("v1/Run/<uuid:id>/fail", api.FailRun.as_view(), name="valkyr-run-fail"),
]
