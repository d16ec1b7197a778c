#!/usr/bin/env python3
"""Check an answer of ideas against assets/ideas.schema.json and the rules beyond it.

    check_ideas.py answer.json
    check_ideas.py -             read standard input
    check_ideas.py - --schema other.schema.json

Beyond the schema: ids differ, no two ideas share a bet, one has boldness 3, and an idea
without a source says what it assumes. The schema is read by this program itself, which
knows the keywords that the schema uses; nothing has to be installed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

EPILOG = "exit status: 0 valid, 1 not valid (a line for each fault), 2 not readable"
SCHEMA = Path(__file__).resolve().parents[1] / "assets" / "ideas.schema.json"
TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}
KEYWORDS = {
    *("$schema", "$ref", "$defs", "title", "type", "const", "required", "properties"),
    *("additionalProperties", "items", "minItems", "maxItems", "minLength"),
    *("maxLength", "pattern", "minimum", "maximum"),
}


class BadSchema(Exception):
    pass


def validate(
    value: Any, schema: dict[str, Any], root: dict[str, Any], at: str
) -> list[str]:
    """Return what is wrong, each with its path in the document."""
    if unknown := sorted(set(schema) - KEYWORDS):
        raise BadSchema(f"this program does not know {', '.join(unknown)}")
    if reference := schema.get("$ref"):
        schema = root["$defs"][reference.rpartition("/")[2]]
    if "const" in schema and (value != schema["const"] or isinstance(value, bool)):
        return [f"{at}: expected {json.dumps(schema['const'])}"]
    kind = schema.get("type")
    if kind and not is_a(value, kind):
        return [f"{at}: expected {kind}, got {json.dumps(value)[:40]}"]
    if isinstance(value, dict):
        return validate_object(value, schema, root, at)
    if isinstance(value, list):
        return validate_array(value, schema, root, at)
    if isinstance(value, str):
        return validate_text(value, schema, at)
    least, most = schema.get("minimum", value), schema.get("maximum", value)
    return [] if least <= value <= most else [f"{at}: {value} is not {least} to {most}"]


def is_a(value: Any, kind: str) -> bool:
    # In Python a bool is an int; in JSON it is not.
    return isinstance(value, TYPES[kind]) and (
        kind == "boolean" or not isinstance(value, bool)
    )


def validate_object(
    value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], at: str
) -> list[str]:
    properties = schema.get("properties", {})
    faults = [
        f"{at}.{name}: missing"
        for name in schema.get("required", ())
        if name not in value
    ]
    for name, item in value.items():
        if name in properties:
            faults += validate(item, properties[name], root, f"{at}.{name}")
        elif schema.get("additionalProperties") is False:
            faults.append(f"{at}.{name}: unknown field")
    return faults


def validate_array(
    value: list[Any], schema: dict[str, Any], root: dict[str, Any], at: str
) -> list[str]:
    least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
    faults = []
    if not least <= len(value) <= most:
        faults.append(f"{at}: {len(value)} entries, expected {least} to {most}")
    for number, item in enumerate(value):
        faults += validate(item, schema.get("items", {}), root, f"{at}[{number}]")
    return faults


def validate_text(value: str, schema: dict[str, Any], at: str) -> list[str]:
    faults = []
    if len(value.strip()) < schema.get("minLength", 0):
        faults.append(f"{at}: is empty")
    if len(value) > schema.get("maxLength", len(value)):
        faults.append(f"{at}: {len(value)} characters, at most {schema['maxLength']}")
    pattern = schema.get("pattern")
    if pattern and not re.search(pattern, value):
        expected = "a number" if pattern == "[0-9]" else pattern
        faults.append(f"{at}: expected {expected} in {json.dumps(value)[:60]}")
    return faults


def check_rules(ideas: list[dict[str, Any]]) -> list[str]:
    """Return what a schema cannot say."""
    faults = []
    for field in ("id", "bet"):
        first: dict[str, int] = {}
        for number, idea in enumerate(ideas):
            text = " ".join(idea[field].lower().split()).rstrip(".")
            if text in first:
                faults.append(
                    f"$.ideas[{number}].{field}: same as of ideas[{first[text]}]"
                )
            first.setdefault(text, number)
    if all(idea["boldness"] != 3 for idea in ideas):
        faults.append("$.ideas: none has boldness 3")
    faults += [
        f"$.ideas[{number}].assumed: without sources, say what is assumed"
        for number, idea in enumerate(ideas)
        if not idea["sources"] and not idea["assumed"]
    ]
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", help="the answer; - is standard input")
    parser.add_argument("--schema", type=Path, default=SCHEMA)
    options = parser.parse_args()
    name = options.file
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text("utf-8")
        answer = json.loads(text)
        name = options.schema
        schema = json.loads(options.schema.read_text("utf-8"))
        faults = validate(answer, schema, schema, "$")
        if not faults and options.schema == SCHEMA:
            faults = check_rules(answer["ideas"])
    except (OSError, ValueError, BadSchema) as error:
        print(f"check_ideas.py: {name}: {error}", file=sys.stderr)
        return 2
    for fault in faults:
        print(fault)
    word = "fault" if len(faults) == 1 else "faults"
    print(f"{len(faults)} {word}" if faults else "valid")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
