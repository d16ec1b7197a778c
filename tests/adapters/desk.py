"""What the suite plays with: three packs, their tools, and models that follow a script.

Everything can be built again in another process from the folder alone.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from satchel import Satchel
from satchel.policy import Policy, deny, require
from satchel.runtime._offered_tools import foreign_name
from satchel.tools import Run
from tests.adapters.driver import Call, Model, Say, Seen, Setup

BASE: Final = "You are the desk."

REFUNDS: Final = "REFUNDS-7413: look the order up first, and only then pay it back."
TRAVEL: Final = "TRAVEL-9021: book trains rather than planes."
PAYROLL: Final = "PAYROLL-5530: never tell one person the wage of another."
MORE: Final = """
Say what you are about to do before you do it. Where something is missing, ask for it
once; where it stays missing, go on without it and say so at the end. Keep to the words
of the customer, and name amounts with their currency.
"""
LIMITS: Final = "LIMITS-2206: at most fifty euros without a second person."

REFUND: Final = Call("refund", {"order_id": "A-1", "cents": 995})
REFUNDED: Final = "refunded 995 of A-1 by ana"
PAID: Final = "refund A-1 995 by ana"
ANA: Final = {"user": "ana", "groups": ["support"]}

_PACKS: Final = {
    "refunds/SKILL.md": f"""\
---
name: refunds
description: Use when a customer wants money back.
metadata:
  tools: order_status refund
---
{REFUNDS}
{MORE}""",
    "refunds/references/limits.md": f"{LIMITS}\n",
    "travel/SKILL.md": f"""\
---
name: travel
description: Use when somebody has to go somewhere.
metadata:
  tools: book seat
---
{TRAVEL}
{MORE}""",
    "payroll/SKILL.md": f"""\
---
name: payroll
description: Use when asked about wages.
---
{PAYROLL}
{MORE}""",
}

HR_ONLY: Final = deny("payroll", unless=lambda who: "hr" in who.get("groups", ()))
"""The rule that all policies of the suite end with: who sees the pack about wages."""


def write_pack(folder: Path, name: str, description: str, body: str) -> None:
    pack = folder / name
    pack.mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {name}\ndescription: {description}\n---\n{body}\n"
    (pack / "SKILL.md").write_text(text, "utf-8")


def write_packs(folder: Path) -> Path:
    """Write the three packs."""
    for path, text in _PACKS.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder


def carried(folder: Path, name: str, *tools: Any, rules: Any = ()) -> Satchel:
    """Return one skill that carries tools: functions, or objects of a framework."""
    names = " ".join(map(_name, tools))
    write_pack(folder, name, f"Use for {name}.\nmetadata: {{tools: {names}}}", "Go.")
    return Satchel(folder, tools=tools, policy=Policy(*rules))


def _name(tool: Any) -> str:
    if isinstance(tool, dict):  # one without a name of its own, under the one it gets
        return str(next(iter(tool)))
    return foreign_name(tool) or str(tool.__name__)


@dataclass
class Desk:
    """The application's tools, and what they have done: one list for all users."""

    done: list[str] = field(default_factory=list[str])

    def tools(self) -> list[Callable[..., object]]:
        """Return them in another order than the packs name them."""
        done = self.done

        def refund(order_id: str, cents: int, run: Run) -> str:
            """Pay an order back."""
            user = run.who.get("user", "nobody")
            done.append(f"refund {order_id} {cents} by {user}")
            return f"refunded {cents} of {order_id} by {user}"

        def order_status(order_id: str) -> str:
            """Tell where an order is."""
            if order_id == "lost":
                raise RuntimeError("cannot open /var/orders.db")
            return f"{order_id} is on its way"

        def book(city: str, run: Run) -> str:
            """Book a train."""
            return f"booked {city} for {run.who.get('user', 'nobody')}"

        async def seat(row: int) -> str:
            """Reserve a seat."""
            await asyncio.sleep(0)
            return f"row {row} is yours"

        return [seat, book, refund, order_status]


def open_desk(folder: Path, desk: Desk | None = None, *rules: Any) -> Satchel:
    """Return the packs with their tools; ``rules`` go before `HR_ONLY`."""
    policy = Policy(*rules, HR_ONLY)
    return Satchel(folder, tools=(desk or Desk()).tools(), policy=policy)


def weather(city: str) -> str:
    """Tell the weather."""
    return f"sun in {city}"


def wiring(done: list[int]) -> Callable[[int], str]:
    """Return a tool of the agent's own, which no skill brings."""

    def wire(cents: int) -> str:
        """Send money."""
        done.append(cents)
        return f"sent {cents}"

    return wire


WIRE: Final = Call("wire", {"cents": 5})
NEEDS: Final = require("refunds", tool="wire")


def setup(
    skills: Satchel,
    model: Model,
    *own_tools: Callable[..., object],
    base: str = BASE,
    **options: object,
) -> Setup:
    return Setup(skills, model, base=base, own_tools=own_tools, options=options)


def load(skill_id: str) -> Call:
    return Call("load_skill", {"skill_id": skill_id})


PAYS: Final[list[Say]] = [[load("refunds")], [REFUND], "done"]


def read(skill_id: str, path: str) -> Call:
    return Call("read_skill_file", {"skill_id": skill_id, "path": path})


def user_of(number: int) -> dict[str, Any]:
    """Return one of many users; every third may see the pack about wages."""
    return {"user": f"u{number}", "groups": ["hr"] if number % 3 == 0 else []}


def user_steps(number: int) -> list[Say]:
    """Return what the model of a user does; neighbours use different skills."""
    if number % 2:
        call = Call("refund", {"order_id": f"A-{number}", "cents": number})
        return [[load("refunds")], [call], f"done {number}"]
    call = Call("book", {"city": f"C-{number}"})
    return [[load("travel")], [call], f"done {number}"]


def check_is_of(seen: Seen, number: int) -> None:
    """Check that one step of a user shows nothing of another's."""
    refunds = {"order_status", "refund"} & set(seen.tools)
    travel = {"book", "seat"} & set(seen.tools)
    mine, others = (refunds, travel) if number % 2 else (travel, refunds)
    foreign = TRAVEL if number % 2 else REFUNDS
    assert ("payroll" in seen.system) == (number % 3 == 0)
    assert not others
    assert len(mine) == (2 if seen.since_user else 0)
    assert foreign not in "".join(seen.results)
    if seen.since_user == 2:
        assert seen.results[1].endswith(f" u{number}")


def script(*steps: Say) -> Model:
    """Return a model that says these in turn, from wherever the user last spoke."""
    return scripts({"": steps})


def scripts(by_text: Mapping[str, Sequence[Say]]) -> Model:
    """Return a model with a script for each text of the user; "" is for any other."""

    def model(seen: Seen) -> Say:
        steps = by_text.get(seen.last_user, by_text.get("", ()))
        at = seen.since_user
        return steps[at] if at < len(steps) else "That is all."

    return model


def transfer(seen: Seen) -> Call:
    """Return the call that hands over, with some text for all that it asks."""
    name = next(
        name
        for name in seen.tools
        if name.startswith(("transfer", "handoff", "delegate"))
    )
    schema = seen.schemas.get(name) or {}
    expected = schema.get("required", ())
    return Call(name, dict.fromkeys(expected, "book the trip to Basel"))
