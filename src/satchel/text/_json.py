"""JSON for any terminal."""

import json


def ascii_json(value: object) -> str:
    """Return JSON in printable ASCII, for any terminal, charset and locale."""
    # `json` escapes every control character but DEL, which terminals obey.
    return json.dumps(value, indent=2).replace("\x7f", "\\u007f")
