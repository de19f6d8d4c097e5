"""Tests judges and readers with captions that contain prompt injections."""
