"""Fills caches when it is imported, for the processes that are forked afterwards: compiled
templates of the pages, and digests of the word lists.
"""

import gc

from caliper.adapters.models import lexical
from caliper.adapters.pages import page
from caliper.lexical import tagger

for name in page._environment().list_templates(extensions=["html"]):
    page._environment().get_template(name)
lexical._revision()
tagger._revision()
# What was imported stays: a fork's collector would only copy its pages.
gc.collect()
gc.freeze()
