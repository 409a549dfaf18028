"""A Django project whose settings contradict everything that Valkyr's API promises.

It includes `valkyr.urls` under `/flows/`, has its admin at `/office/` and only Django's middleware.
"""
