"""``satchel predict --library``: what clients show of a whole library."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from textwrap import fill
from typing import Any, Final

from satchel.cli import bold, layout, one_line
from satchel.text import ascii_json, clip, plural
from satchel_lab._markup import markdown_details
from satchel_lab.checking import ClientListings, LibraryListing
from satchel_lab.clients import LISTING_STATES, WINDOWS, ClientListing, SkillListing
from satchel_lab.commands._grid import client_page

SCHEMA_VERSION: Final = 1
# Skills of which a text shows what becomes; the other formats show all.
_MAX_ROWS: Final = 20
_HEADS: Final = ("client", "window", "whole", "shortened", "left out", "how")
_WINDOW_NAMES: Final = {size: name for name, size in WINDOWS.items()}


def render_listing(
    library: LibraryListing, style: str, columns: int, command: str
) -> str:
    """Return what clients show: as text, ``json``, ``markdown`` or ``html``.

    ``command`` says, with ``--for``, why a client does not load a skill.
    """
    match style:
        case "json":
            return render_json(library)
        case "markdown":
            return "\n".join(_markdown(library, command))
        case "html":
            return client_page(_html(library, command))
        case _:
            return "\n".join(_text(library, columns, command))


def is_all_listed(library: LibraryListing, *, whole: bool) -> bool:
    """Tell whether every client lists every skill, ``whole`` or in part."""
    return not any(client.not_loaded for client in library.clients) and not any(
        listing.of("left-out") or (whole and listing.of("shortened"))
        for listing in library.listings
    )


def _text(library: LibraryListing, columns: int, command: str) -> Iterator[str]:
    rows = [_row(one) for client in library.clients for one in client.listings]
    head, *lines = layout([_HEADS, *rows], columns)
    yield f"{plural(library.packs, 'skill')} in one library"
    yield from ("", bold(head), *lines, "")
    for client in library.clients:
        for sentence in _sentences(client, command):
            yield fill(one_line(sentence), columns, subsequent_indent="    ")
    # A line has room for one window of each client.
    names, shown = _grid([client.listings[0] for client in library.clients])
    if shown:
        yield ""
        head, *lines = layout([("skill", *names), *shown[:_MAX_ROWS]], None)
        yield from (bold(clip(head, columns)), *(clip(line, columns) for line in lines))
        if len(shown) > _MAX_ROWS:
            yield f"and {len(shown) - _MAX_ROWS:,} more: add --format html or json"
        yield ""
        yield "a number: so many characters are shown   name: the name alone"
        yield "-: left out   not loaded: whatever else is in the library"


def _row(listing: ClientListing) -> tuple[str, ...]:
    rule = listing.rule
    counts = ["?", "?", "?"]
    if listing.is_known:
        counts = [f"{len(listing.of(state)):,}" for state in LISTING_STATES]
    how = f"{rule.how} {rule.version} {rule.checked}".strip()
    return (rule.key, _window(listing.window), *counts, how)


def _window(window: int) -> str:
    return _WINDOW_NAMES.get(window, f"{window:,}")


def _sentences(client: ClientListings, command: str) -> Iterator[str]:
    """Yield what to know of a client, and what to do at each window."""
    rule = client.listings[0].rule
    yield f"{rule.key}: {_evidence(client)}"
    if rule.about:
        yield f"  {rule.about}"
    if rule.order:
        yield f"  Order: {rule.order}"
    if client.not_loaded:
        loaded = plural(len(client.not_loaded), "skill")
        yield f"  Not loaded: {loaded}; {command} --for {rule.key} says why."
    for listing in client.listings:
        if advice := advice_of(listing):
            yield f"  {_window(listing.window)}: {advice}"


def _evidence(client: ClientListings) -> str:
    rule = client.listings[0].rule
    if rule.how == "unknown":
        return "nobody measured or documented what it shows of a library."
    right = sum(right for right, _ in rule.agreed.values())
    skills = sum(skills for _, skills in rule.agreed.values())
    share = f", right for {right / skills:.1%} of {skills:,}" if skills else ""
    evidence = f"{rule.how} with {rule.version} on {rule.checked}{share}."
    if client.is_other_version:
        return f"version {client.asked} was not measured; this is {evidence}"
    return f"{evidence} Other versions were not measured."


def advice_of(listing: ClientListing) -> str:
    """Return what to change so that all are shown whole; empty if they are."""
    if listing.most_chars is None:
        return ""
    keep = f"keep {plural(listing.most_skills or 0, 'skill')}"
    if not listing.most_chars and not listing.most_skills:
        return "no description has room, however short."
    if not listing.most_chars:
        return f"not even short descriptions fit; to show all whole, {keep}."
    count = plural(len(listing.to_shorten), "description")
    return (
        f"to show all whole, shorten {count} to "
        f"{plural(listing.most_chars, 'character')}, or {keep}."
    )


def _grid(listings: Iterable[ClientListing]) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return a column for each listing, and a row for each skill not whole in all."""
    columns = [one for one in listings if one.is_known]
    by_name = [
        {one_line(s.skill.folder or s.skill.name): _cell(s) for s in column.skills}
        for column in columns
    ]
    every = sorted({name for cells in by_name for name in cells})
    rows = [(name, *(c.get(name, "not loaded") for c in by_name)) for name in every]
    heads = [f"{one.rule.key} {_window(one.window)}" for one in columns]
    return heads, [row for row in rows if any(cell != "whole" for cell in row[1:])]


def _cell(one: SkillListing) -> str:
    if one.state == "shortened":
        return f"{len(one.text):,}" if one.text else "name"
    return {"shown": "whole", "left-out": "-"}[one.state]


def render_json(library: LibraryListing) -> str:
    """Return one object, in ASCII: each client at each window, skill by skill."""
    clients = [_client_entry(client) for client in library.clients]
    return ascii_json(
        {"schema_version": SCHEMA_VERSION, "packs": library.packs, "clients": clients}
    )


def _client_entry(client: ClientListings) -> dict[str, Any]:
    rule = client.listings[0].rule
    keys = ("key", "title", "version", "how", "checked", "order", "about", "source")
    return {
        **{key: getattr(rule, key) for key in keys},
        "asked_version": client.asked,
        "is_other_version": client.is_other_version,
        "accuracy": {
            window: {"right": right, "skills": skills}
            for window, (right, skills) in rule.agreed.items()
        },
        "not_loaded": list(client.not_loaded),
        "listings": [_listing_entry(listing) for listing in client.listings],
    }


def _listing_entry(listing: ClientListing) -> dict[str, Any]:
    return {
        "window": listing.window,
        "known": listing.is_known,
        "most_chars": listing.most_chars,
        "most_skills": listing.most_skills,
        "to_shorten": [skill.name for skill in listing.to_shorten],
        "skills": [
            {"name": one.skill.name, "state": one.state, "text": one.text}
            for one in listing.skills
        ],
    }


def _markdown(library: LibraryListing, command: str) -> Iterator[str]:
    yield f"{plural(library.packs, 'skill')} in one library:"
    yield ""
    yield from _pipes(_HEADS, [_row(one) for one in library.listings])
    for client in library.clients:
        yield ""
        yield from (f"- {sentence.strip()}" for sentence in _sentences(client, command))
    names, rows = _grid(library.listings)
    if rows:
        summary = f"{plural(len(rows), 'skill')} not whole"
        yield from markdown_details(summary, _pipes(("skill", *names), rows))


def _pipes(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(escape(cell).replace('|', '&#124;') for cell in row)} |"


def _html(library: LibraryListing, command: str) -> Iterator[str]:
    yield f"<h1>{plural(library.packs, 'skill')} in one library</h1>"
    yield from _table(_HEADS, [_row(one) for one in library.listings])
    for client in library.clients:
        sentences = (escape(one_line(text)) for text in _sentences(client, command))
        yield f"<p>{'<br>'.join(sentences)}</p>"
    names, rows = _grid(library.listings)
    if rows:
        yield from _table(("skill", *names), rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"<table><thead><tr>{_cells('th', heads)}</tr></thead><tbody>"
    yield from (f"<tr>{_cells('td', row)}</tr>" for row in rows)
    yield "</tbody></table>"


def _cells(tag: str, texts: Sequence[str]) -> str:
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)
