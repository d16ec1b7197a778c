"""Digests of files and of whole packs."""

from collections.abc import Iterable
from typing import Final

from satchel.model import Resource

__all__ = ["TREE_PREFIX", "digest_bytes", "tree_digest"]

TREE_PREFIX: Final = "sha256-tree-v1:"

_FILE_PREFIX: Final = "sha256:"


def digest_bytes(data: bytes) -> str:
    """Return ``sha256:`` and the hex digest of ``data``."""
    from hashlib import sha256

    return _FILE_PREFIX + sha256(data).hexdigest()


def tree_digest(resources: Iterable[Resource]) -> str:
    """Return the digest of a pack: one for equal files under equal paths.

    It is the SHA-256 over ``path NUL hex LF`` of every file, SKILL.md included,
    sorted by path by code point. The order of ``resources`` does not matter.
    """
    from hashlib import sha256

    lines = sorted(
        (each.path, each.digest.removeprefix(_FILE_PREFIX)) for each in resources
    )
    tree = sha256()
    for path, digest in lines:
        # A source of somebody else's may hand over any string as a path.
        tree.update(f"{path}\0{digest}\n".encode("utf-8", "surrogatepass"))
    return TREE_PREFIX + tree.hexdigest()
