"""Services, each started by `python -m services.NAME`: in the image, not in the wheel."""
