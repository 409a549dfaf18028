import django
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.asgi import get_asgi_application

django.setup()
application = ASGIStaticFilesHandler(get_asgi_application())
