"""Entry points of the services, `python -m services.NAME`; in the image, not in the wheel."""
