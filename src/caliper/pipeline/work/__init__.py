"""Workers take jobs off a topic and handle them."""
