"""Pictures and clips: bounded decoding, thumbnails."""
