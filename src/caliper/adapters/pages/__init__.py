"""report.html and the pages of a server, rendered from templates."""
