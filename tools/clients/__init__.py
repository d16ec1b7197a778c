"""The real clients against the real server, offline, as checks that can be repeated."""
