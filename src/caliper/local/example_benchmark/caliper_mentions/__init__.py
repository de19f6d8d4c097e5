"""Mentions: does a caption mention each annotated thing?"""
