"""What a model is sent for skills: by each framework's own feature, as texts.

The agents of `benchmarks.attached` are run with their fake model; the other files here
take the texts from the public API of a framework. Each runs under the interpreter of a
peer's environment (`benchmarks.peers`), and has:

- ``PEER``: whose environment it takes.
- ``NAME``: what the feature is called.
- ``send(folder, skill)``: what is sent for the packs in ``folder``, and when ``skill``
  is loaded; a coroutine. See `_texts.Sent`.

`__main__` runs one of them; `_packs` makes the libraries, `_tokenizer` counts, and
`tokens` has the tables: ``python -m benchmarks tokens``.
"""
