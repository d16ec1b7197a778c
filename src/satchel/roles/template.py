"""The templates of role prompts: conditions, commands, placeholders, in this order.

Every step is one pass over the text, and none reads what it has put in itself. Values
come last: whatever stands in one, no condition and no command is made of it.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

__all__ = ["commands_in", "fill", "render_template", "resolve_conditions", "written"]

_IF: Final = re.compile(r"\{\{#IF\s++(\w++)\}\}")
_IF_NOT: Final = re.compile(r"\{\{#IF_NOT\s++(\w++)\}\}")
_END: Final = re.compile(r"\{\{/IF\}\}")
_EITHER_END: Final = re.compile(r"\{\{/IF(?:_NOT)?\}\}")
_COMMAND: Final = re.compile(r"!`([^`]++)`")
_PLACEHOLDER: Final = re.compile(r"\{\{(\w++)\}\}")


def render_template(
    template: str,
    values: Mapping[str, object],
    *,
    run: Callable[[str], str] | None = None,
) -> str:
    """Return the text of a template, in time that grows with its length only.

    1. ``{{#IF VAR}}...{{/IF}}`` stays where ``VAR`` has a value that is not empty, and
       ``{{#IF_NOT VAR}}...{{/IF}}`` where it has not; the first end closes a block, for
       blocks do not nest. ``{{/IF_NOT}}`` ends the latter, too.
    2. Each command, written as an exclamation mark and text in backticks, becomes what
       ``run`` makes of it; with None it stays as it is.
    3. ``{{VAR}}`` becomes its value; a name without one stays as it is.

    Args:
        template: The text.
        values: By name; None is an empty value, other values than text are written
            by ``str``. To a condition False is empty, too, so that switches work.
        run: Given each command of the template, in order; never anything of a value.
    """
    text = resolve_conditions(template, values)
    if run is not None:
        text = _COMMAND.sub(lambda found: run(found[1].strip()), text)
    return fill(text, values)


def resolve_conditions(template: str, values: Mapping[str, object]) -> str:
    """Return the template without its conditions: the first step."""
    text = _choose(template, _IF, _END, lambda name: _holds(values, name))
    return _choose(text, _IF_NOT, _EITHER_END, lambda name: not _holds(values, name))


def commands_in(text: str) -> tuple[str, ...]:
    """Return the commands that the second step would run, in order."""
    return tuple(found[1].strip() for found in _COMMAND.finditer(text))


def fill(text: str, values: Mapping[str, object]) -> str:
    """Return ``text`` with its placeholders filled: the third step."""
    return _PLACEHOLDER.sub(
        lambda found: written(values[found[1]]) if found[1] in values else found[0],
        text,
    )


def _choose(
    text: str,
    begins: re.Pattern[str],
    ends: re.Pattern[str],
    keeps: Callable[[str], bool],
) -> str:
    """Keep or drop each block; one without an end, and all behind it, stays."""
    pieces: list[str] = []
    at = 0
    while (begin := begins.search(text, at)) and (
        end := ends.search(text, begin.end())
    ):
        pieces.append(text[at : begin.start()])
        if keeps(begin[1]):
            pieces.append(text[begin.end() : end.start()])
        at = end.end()
    return "".join((*pieces, text[at:]))


def written(value: object) -> str:
    """Return a value as it stands in the text; None is an empty one."""
    return "" if value is None else str(value)


def _holds(values: Mapping[str, object], name: str) -> bool:
    value = values.get(name)
    return value is not False and bool(written(value))
