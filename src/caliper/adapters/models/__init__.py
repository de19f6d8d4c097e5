"""Whatever answers: recorded replies, chat servers."""
