"""Builds of CaptionQA: questions with options about pictures (paper 4)."""
