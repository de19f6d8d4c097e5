"""report.html: templates and what fills them."""
