"""Recipients of notices about checkpoints: webhooks, chats, mailboxes, topics, trackers."""
