"""The use cases of the gateway: start, get, list, watch, cancel, replay."""
