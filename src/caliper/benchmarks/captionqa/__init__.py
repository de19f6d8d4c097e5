"""CaptionQA: multiple-choice questions answered from the caption alone."""
