"""Any order of loads, acts and compactions, for a model that does as it is told."""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings, strategies as st

from satchel import Policy, Run, Satchel, require
from satchel.model import SeenMessage
from satchel.runtime import Session
from satchel.tools import result_text

pytestmark = [pytest.mark.property, pytest.mark.slow, pytest.mark.row("U15", "N13")]

IDS: Final = ("pay", "ship", "tell")
BODIES: Final = {
    id: f"{id.upper()}-7: look first, and act only then. " * 4 for id in IDS
}

acts = st.builds("act {}".format, st.sampled_from(IDS))
loads = st.builds("load {}".format, st.sampled_from(IDS))
steps = st.lists(acts | loads, min_size=1, max_size=4)
events = st.sampled_from(["compacted", "resumed"])
runs = st.lists(steps | events, min_size=1, max_size=12)


@contextmanager
def library(*, own: bool) -> Generator[tuple[Satchel, list[str]]]:
    """Yield three skills, each with an act that needs it, and a list of what was done.

    ``own`` says that the acts are functions of the application, not tools of skills.
    """
    done: list[str] = []

    def act(name: str) -> object:
        def tool(run: Run) -> str:
            done.append(name)
            return f"done {name}"

        tool.__name__ = f"do_{name}"
        return tool

    with tempfile.TemporaryDirectory() as folder:
        for id in IDS:
            file = Path(folder, id, "SKILL.md")
            file.parent.mkdir()
            brought = "" if own else f"metadata:\n  tools: do_{id}\n"
            head = f"---\nname: {id}\ndescription: Use to {id} at once.\n{brought}---\n"
            file.write_text(head + BODIES[id], "utf-8")
        policy = Policy(*(require(id, tool=f"do_{id}") for id in IDS))
        tools = [] if own else [act(id) for id in IDS]
        with Satchel(folder, tools=tools, policy=policy, sinks=[]) as skills:
            yield skills, done


class Chat:
    """A model that tries an act again where it was told to, and what it is shown."""

    def __init__(
        self, skills: Satchel, done: list[str], *, own: bool, repeated: int
    ) -> None:
        self._skills, self._done, self._own = skills, done, own
        self._repeated = repeated
        self.session: Session = skills.session(reinject_tokens=repeated)
        self.messages = [SeenMessage("user", "hi")]
        self.refused: list[str] = []

    def happen(self, event: str) -> None:
        if event == "compacted":
            del self.messages[1:]
        else:
            saved, tokens = self.session.dump(), self._repeated
            self.session = self._skills.session(resume=saved, reinject_tokens=tokens)

    def step(self, wishes: list[str]) -> None:
        """Make one step's calls, with those that were refused before."""
        self.session.see(self.messages)
        shown = "\n".join(m.text for m in self.messages if m.role == "tool")
        shown += self.session.instructions()
        self.session.tools()
        again = [f"act {id}" for id in self.refused]
        self.refused = []
        results: list[SeenMessage] = []
        for wish in dict.fromkeys([*again, *wishes]):
            verb, id = wish.split()
            name = f"do_{id}" if verb == "act" else "load_skill"
            arguments: dict[str, object] = {} if verb == "act" else {"skill_id": id}
            count = len(self._done)
            text = result_text(self._call(name, arguments))
            results.append(SeenMessage("tool", text, name, arguments))
            if verb == "act":
                is_done = self._done[count:] == [id]
                # Neither too early, nor refused where its skill can be read.
                assert is_done is (BODIES[id].strip() in shown), (wish, text)
                if not is_done:
                    self.refused.append(id)
        self.messages += [SeenMessage("assistant"), *results]

    def _call(self, name: str, arguments: dict[str, object]) -> object:
        if not self._own or name == "load_skill":
            return self.session.call(name, arguments)
        refusal = self.session.required(name)
        if refusal is None:
            self._done.append(name.removeprefix("do_"))
            return f"done {name}"
        return refusal


@settings(max_examples=500)
@given(run=runs, own=st.booleans(), repeated=st.sampled_from([0, 2_000]))
def test_an_honest_run_is_refused_once_and_no_act_is_early(
    run: list[list[str] | str], own: bool, repeated: int
) -> None:
    """An act is made just where its step sees the skill; then nothing is left over."""
    with library(own=own) as (skills, done):
        chat = Chat(skills, done, own=own, repeated=repeated)
        for each in run:
            if isinstance(each, str):
                chat.happen(each)
            else:
                chat.step(each)

        # One model call for what was refused; before it one if all was forgotten.
        chat.step([])
        chat.step([])
        assert chat.refused == []
