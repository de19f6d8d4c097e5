"""Answerers and models: recorded replies, lexical rules, chat servers and embedders."""
