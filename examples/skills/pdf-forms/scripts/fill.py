# /// script
# requires-python = ">=3.11"
# dependencies = ["pypdf>=5"]
# ///
"""List the fields of a PDF form, or fill them in from a JSON file.

    python fill.py form.pdf --list
    python fill.py form.pdf --values values.json --out filled.pdf

With `--values -` the JSON is read from standard input.
Status: 0 done, 1 the values do not fit the form (nothing is written), 2 not a form.
"""

import argparse
import json
import sys
from pathlib import Path

from pypdf import PdfReader, PdfWriter

KINDS = {"/Tx": "text", "/Btn": "button", "/Ch": "choice", "/Sig": "signature"}
READ_ONLY, REQUIRED, EDITABLE_COMBO = 1, 2, 1 << 18


def offered(field: dict) -> list[str]:
    """Return what a choice or a button can be set to; empty for free text."""
    if "/_States_" in field:
        return [str(state) for state in field["/_States_"]]
    return []


def list_fields(fields: dict) -> None:
    for name, field in fields.items():
        flags = field.get("/Ff", 0)
        marks = "required" if flags & REQUIRED else "read-only" if flags & READ_ONLY else ""
        length = f"max {field['/MaxLen']}" if "/MaxLen" in field else ""
        kind = KINDS.get(field.get("/FT"), "other")
        value = field.get("/V", "")
        print(kind, marks, name, value, length, *offered(field), sep="\t")


def fitting(fields: dict, values: dict) -> tuple[dict, list[str]]:
    """Return the values in the form's own spelling, and what does not fit."""
    ready, problems = {}, []
    for name, value in values.items():
        field = fields.get(name)
        if field is None:
            problems.append(f"no field {name!r}")
        elif field.get("/FT") == "/Sig":
            problems.append(f"{name!r} has to be signed by a person")
        elif field.get("/Ff", 0) & READ_ONLY:
            problems.append(f"{name!r} is computed by the form")
        elif isinstance(value, bool):
            on = next((s for s in offered(field) if s != "/Off"), "/Yes")
            ready[name] = on if value else "/Off"
        else:
            choices = offered(field)
            free = not choices or field.get("/Ff", 0) & EDITABLE_COMBO
            if not free and str(value) not in choices:
                problems.append(f"{name!r} offers {', '.join(choices)}; got {value!r}")
            ready[name] = str(value)
    return ready, problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("form", type=Path)
    parser.add_argument("--list", action="store_true", help="print the fields")
    parser.add_argument("--values", help="JSON file: field name to value; - for stdin")
    parser.add_argument("--out", type=Path, help="the new file")
    options = parser.parse_args()

    reader = PdfReader(options.form)
    fields = reader.get_fields() or {}
    if not fields:
        print(f"{options.form} has no fields: it is no form, or a scan", file=sys.stderr)
        return 2
    if options.list or not (options.values and options.out):
        list_fields(fields)
        return 0
    if options.out.resolve() == options.form.resolve():
        parser.error("--out is the form itself; the original stays as it is")

    stdin = options.values == "-"
    text = sys.stdin.read() if stdin else Path(options.values).read_text("utf-8")
    ready, problems = fitting(fields, json.loads(text))
    if problems:
        print("nothing written:", *problems, sep="\n  ", file=sys.stderr)
        return 1
    writer = PdfWriter(clone_from=reader)
    for page in writer.pages:
        writer.update_page_form_field_values(page, ready, auto_regenerate=True)
    writer.write(options.out)
    print(f"{len(ready)} fields written to {options.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
