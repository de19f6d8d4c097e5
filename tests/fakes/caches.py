"""Fills caches when it is imported, for the processes that are forked afterwards: compiled
templates of the pages, digests of the word lists, and what libraries import on first use.
"""

import gc

import pyarrow as pa
from PIL import Image

from caliper.adapters.models import lexical
from caliper.adapters.pages import page
from caliper.lexical import tagger

for name in page._environment().list_templates(extensions=["html"]):
    page._environment().get_template(name)
lexical._revision()
tagger._revision()
Image.init()
# Where pandas is installed, pyarrow imports it with the first list of Python's that it converts.
pa.array([0])
# What was imported stays: a fork's collector would only copy its pages.
gc.collect()
gc.freeze()
