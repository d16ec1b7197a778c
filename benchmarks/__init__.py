"""Figures for the docs: ours next to a floor, and next to other Python skill loaders.

``python -m benchmarks`` runs them; docs/benchmarks.md has the results and what they do
not show. `measure` has the rounds and the tables, `library` the packs, `floor` what any
loader has to do; each benchmark is a module of its own.
"""
