"""Little bytes that become many: aliases, nesting, sparse files."""

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final

from satchel.testing.hostile._pack import BAD, HostilePack, front, skill, write_skill

_GIB: Final = 1 << 30
_NESTED: Final = 30_000  # the C stack of libyaml's loader ends at about this depth

_bomb: Final = partial(skill, "bomb")


def _aliases(last: str) -> str:
    """Return ten levels of nine aliases each, and what is to hold the last."""
    names = "abcdefghi"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, name in pairwise(names):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]")
    return "\n".join([*lines, last])


def _merges() -> str:
    lines = ["m0: &m0 {k0: v}"]
    for i in range(1, 12):
        merged = ", ".join([f"*m{i - 1}"] * 9)
        lines.append(f"m{i}: &m{i} {{<<: [{merged}], k{i}: v}}")
    return "\n".join(lines)


def _sparse(path: str, size: int) -> HostilePack:
    """Return a pack with a file of zeros that takes no room on the disk."""

    def writes(library: Path) -> None:
        pack = write_skill(library, BAD, front().encode())
        place = pack / path
        place.parent.mkdir(exist_ok=True)
        with place.open("ab") as file:
            file.truncate(size)

    name = f"sparse-{Path(path).stem.lower()}"
    return HostilePack(name, "bomb", "T10", writes, f"a {path} of 1 GiB of zeros")


PACKS: Final[tuple[HostilePack, ...]] = (
    _bomb(
        "alias-description",
        "T12",
        "400 bytes that become 3.5 GB when the description is printed",
        f"---\nname: bad\n{_aliases('description: *i')}\n---\n",
    ),
    _bomb(
        "alias-name",
        "T12",
        "the same for the name",
        f"---\ndescription: x\n{_aliases('name: *i')}\n---\n",
    ),
    _bomb(
        "alias-metadata",
        "T12",
        "the same where nobody looks",
        front(more=_aliases("metadata: {value: *i}")),
    ),
    _bomb("alias-self", "T12", "a list in itself", front(more="metadata: &a [*a, *a]")),
    _bomb(
        "merge-keys", "T12", "merge keys, nine to the eleventh", front(more=_merges())
    ),
    _bomb(
        "nested-flow",
        "T12",
        "30,000 nested [: the C loader of PyYAML ends the process",
        lambda: front(more=f"metadata: {'[' * _NESTED}"),
    ),
    _bomb(
        "nested-flow-closed",
        "T12",
        "the same, closed",
        lambda: front(more=f"metadata: {'[' * _NESTED}{']' * _NESTED}"),
    ),
    _bomb(
        "nested-mappings",
        "T12",
        "15,000 nested {a:",
        lambda: front(more=f"metadata: {'{a: ' * 15_000}"),
    ),
    _bomb(
        "nested-block",
        "T12",
        "30,000 nested - ",
        lambda: front(more=f"metadata:\n  {'- ' * _NESTED}x"),
    ),
    _bomb(
        "nested-some",
        "T12",
        "1,200 nested [: RecursionError, whatever the parser",
        lambda: front(more=f"metadata: {'[' * 1200}{']' * 1200}"),
    ),
    _bomb(
        "frontmatter-10mb",
        "T10",
        "a frontmatter of 10 MB",
        lambda: front(more="\n".join(f"k{i}: {'v' * 1000}" for i in range(10_000))),
    ),
    _bomb(
        "description-8mb",
        "T10",
        "a description of 8 MB on one line",
        lambda: front("word " * 1_600_000),
    ),
    _bomb(
        "description-60kb",
        "T33",
        "a description of 60 KB: a catalog of nothing else",
        lambda: front("word " * 12_000),
    ),
    _bomb(
        "body-20mb",
        "T10",
        "a body of 20 MB",
        lambda: front() + "A line of text.\n" * 1_250_000,
    ),
    _sparse("SKILL.md", _GIB),
    _sparse("references/guide.md", _GIB),
)
