"""A record of what Satchel answers, and its replay: ``python -m tools.record``.

The same questions are asked of the same packs by the same script; every answer is kept
as a line of JSON in ``tests/record``. A change that only moves or renames code replays
without a difference, but for the words that ``tests/record/renamed.toml`` maps.
"""
