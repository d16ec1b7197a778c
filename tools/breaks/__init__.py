"""One-line breaks of the code, and whether a test notices: ``python -m tools.breaks``.

draw    choose lines with a seed, from every room, and write tests/record/breaks.jsonl
map     run the tests once, and keep which of them reach which line
try     make each break in a copy, run the tests that reach it, say which stay green
"""
