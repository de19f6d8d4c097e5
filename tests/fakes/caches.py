"""Fills caches when it is imported, for the processes that are forked afterwards: compiled
templates of the pages, prompts, digests of the word lists, the plug-ins that are installed,
and what libraries import on first use.
"""

import gc

import pyarrow as pa
from PIL import Image

from caliper.adapters.models import lexical
from caliper.adapters.packs.files import shipped_pack
from caliper.adapters.pages import page
from caliper.benchmarks.registry import PLUGINS
from caliper.lexical import tagger
from caliper.wiring.data_sources import DATASETS
from caliper.wiring.export_sinks import SINKS
from caliper.wiring.specs import BACKENDS

for name in page._environment().list_templates(extensions=["html"]):
    page._environment().get_template(name)
lexical._revision()
tagger._revision()
assert shipped_pack().digest
assert not any(group.names for group in (BACKENDS, DATASETS, PLUGINS, SINKS))
Image.init()
# Where pandas is installed, pyarrow imports it with the first list of Python's that it converts.
pa.array([0])
# What was imported stays: a fork's collector would only copy its pages.
gc.collect()
gc.freeze()
