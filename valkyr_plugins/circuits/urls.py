"""The URLs of circuit breakers."""

from django.urls import path

from valkyr_plugins.circuits import api

urlpatterns = [
    path("v1/CircuitBreaker", api.CircuitBreakers.as_view(), name="valkyr-circuit-breakers"),
    path(
        "v1/CircuitBreaker/<uuid:id>",
        api.OneCircuitBreaker.as_view(),
        name="valkyr-circuit-breaker",
    ),
    path(
        "v1/CircuitBreaker/<uuid:id>/reset",
        api.ResetCircuitBreaker.as_view(),
        name="valkyr-circuit-breaker-reset",
    ),
]
