"""What validators of skills find of faults that come from lists of others.

`fault` says what a fault is: a pack that has it, and its twin without it. `tricky`,
`codes`, `rules` and `threats` have them, by where they come from. `validators` runs
ours and other people's, each in an environment of its own; `outcomes` compares what
is said of a pack with what is said of its twin. `public` draws public packs, and
`subjects` says which of our codes mean the same as a peer's.

From the shell: ``python -m benchmarks.faults --help``.
"""
