"""Other Python skill loaders, each in a virtual environment of its own.

One small file per loader says what to install and how its public API is called;
no code of theirs is here. Each file is loaded by `_run` under that environment's
interpreter, so it imports its library at the top, and nothing of ours. It has:

- ``REQUIRES``: what pip installs, pinned; empty for this checkout itself.
- ``PYTHON``: the Python to build the environment with.
- ``LARGE``: the form that is fastest for it on a large two-level library, measured
  by ``python -m benchmarks.peers time --all-forms``; see `_run`.
- ``YAML``: optional, False where it does not parse the frontmatter as YAML.
- ``ENVIRONMENT``: optional, the name of the environment it shares with another.
- ``discover(folder)``: name to description of the packs in ``folder``, or pairs of
  them, yielded, where what came before an exception counts; a coroutine if the API
  is one.
- ``discover_roots(folders)``: optional, the same in one call over many folders.

`_catalog` reads those names without running the file; `_install` builds the
environments; `_process` runs a loader in a child process that can be killed.

From the shell: ``python -m benchmarks.peers install|list|try|time``. In Python:
`run_peer`.
"""

from benchmarks.peers._catalog import Peer, all_peers, choose, get_peer
from benchmarks.peers._install import CannotInstall, install
from benchmarks.peers._process import Outcome, run_peer

__all__ = [
    "CannotInstall",
    "Outcome",
    "Peer",
    "all_peers",
    "choose",
    "get_peer",
    "install",
    "run_peer",
]
