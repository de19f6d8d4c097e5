"""Pictures and clips: bounded decoding, sampling of frames, thumbnails."""
