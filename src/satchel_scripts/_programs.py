"""Which programs the shell scripts of a pack call; nothing of them is run."""

import re
import shutil
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

# Seconds of processor time for all scripts of a pack, which is loaded meanwhile. The
# parser takes minutes for thousands of here-documents, and .01 for scripts of packs.
_MOST_S: Final = 1.0
_CHUNK: Final = 4_096
# How a script asks whether a program is there.
_ASKED: Final = (b"command -v ", b"which ", b"hash ")
_PLAIN: Final = re.compile(r"[A-Za-z0-9][\w.+-]*")
_BUILTINS: Final = frozenset(
    "alias bg break builtin caller cd command compgen complete continue declare dirs "  # noqa: SIM905 - words
    "disown echo enable eval exec exit export false fg getopts hash help history jobs "
    "kill let local logout mapfile popd printf pushd pwd read readarray readonly set "
    "return shift shopt source suspend test times trap true type typeset ulimit umask "
    "unalias unset wait".split()
)
# What does nothing without a network, for most of what scripts want of it.
_ON_NETWORK: Final = frozenset(
    "apk apt apt-get aws az brew bunx curl dnf gcloud gh npm npx pip pip3 pnpm scp ssh "  # noqa: SIM905 - words
    "uvx wget yarn yum".split()
)


def lacking_programs(
    scripts: Iterable[bytes], path: str | None, *, network: bool
) -> tuple[str, ...]:
    """Return what of the programs that scripts call is not on a PATH.

    Where there is no network, that too, with those that ask it.
    """
    programs = _called(scripts) - _BUILTINS
    lacking = sorted(name for name in programs if not shutil.which(name, path=path))
    online = [] if network else sorted(_ON_NETWORK & programs.difference(lacking))
    return (*lacking, *([f"the network ({', '.join(online)})"] if online else []))


def _called(scripts: Iterable[bytes]) -> set[str]:
    """Return the plain names that shell scripts call, but for what they define.

    Without the extra ``scripts`` none is known.
    """
    try:
        import tree_sitter_bash
        from tree_sitter import Language, Parser
    except ModuleNotFoundError:
        return set()
    parser = Parser(Language(tree_sitter_bash.language()))
    end = time.process_time() + _MOST_S
    words: dict[str, set[str]] = defaultdict(set)
    for script in scripts:
        nodes: list[Any] = []

        def chunk(at: int, _: object, of: bytes = script) -> bytes:
            return of[at : at + _CHUNK]

        def is_over(*_: object) -> bool:
            return time.process_time() > end

        with suppress(ValueError):  # its time is over
            nodes = [parser.parse(chunk, progress_callback=is_over).root_node]
        while nodes and not is_over():
            node = nodes.pop()
            nodes += node.named_children
            if node.type == "word" and (of := node.parent):
                is_asked = script.startswith(_ASKED, of.start_byte)
                kind = "command_name" if is_asked else of.type
                text = script[node.start_byte : node.end_byte]
                words[kind].add(text.decode("utf-8", "replace"))
    called = words["command_name"] - words["function_definition"]
    return {*filter(_PLAIN.fullmatch, called)}
