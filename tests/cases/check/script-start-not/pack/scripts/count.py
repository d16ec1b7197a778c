#!/usr/bin/env -S uv run --script
print(1)
