from tests.projects.people.asgi import application

__all__ = ["application"]
