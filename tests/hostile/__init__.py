"""A Django project whose settings contradict everything that Valkyr's API promises.

It includes `valkyr.urls` below `/flows/`, has its admin at `/office/` and Django's middleware only.
"""
