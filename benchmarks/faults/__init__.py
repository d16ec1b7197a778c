"""What `satchel check` finds of faults that come from lists of others.

`fault` says what a fault is: a pack that has it, and its twin without it. `tricky`,
`codes`, `rules` and `threats` have them, by where they come from; `planted` has those
that were written down before the rules were looked at.
"""
