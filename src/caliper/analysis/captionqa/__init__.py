"""The analyses of the CaptionQA paper beside its scores, over the answers of several runs."""
