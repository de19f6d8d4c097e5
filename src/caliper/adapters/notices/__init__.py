"""Whoever is told what happens to checkpoints: webhooks, chats, mailboxes, topics, trackers."""
