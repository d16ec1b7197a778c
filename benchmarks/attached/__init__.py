"""Agents with skills: each framework's own feature next to Satchel's adapter.

One file for each framework says how an agent of it is made, without skills and with
them; the framework's environment is that of a peer (`benchmarks.peers`), and Satchel is
this checkout. Each file runs under that environment's interpreter, and has:

- ``PEER``: whose environment it takes.
- ``SETUPS``: the agents, see `Setup`; the first is the bare one.
- ``show(script)``: the system prompt and the tools that the model was given last, as
  texts; it is not timed.
- ``heard(script)``: the result of the tool that was called last, as the model reads it.

`_script` is the fake model's part and the tools that every agent has; `__main__` holds
the conversations and tells the times.
"""
