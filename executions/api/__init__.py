"""The HTTP API of the app `executions`: its views and serializers, and the OpenAPI document."""
