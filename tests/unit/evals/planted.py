"""Libraries with skills that are known to be hidden, and with controls that are not."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"


@dataclass
class MadeUpSkill:
    """A skill: what it says, and the queries that it should get."""

    name: str
    description: str
    queries: list[str] = field(default_factory=list[str])


@dataclass
class PlantedLibrary:
    """Skills, and the names of those that another one hides."""

    skills: list[MadeUpSkill]
    hidden: set[str]


class _Words:
    """Words that nobody uses twice."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._used: set[str] = set()

    def word(self) -> str:
        """Return a new word of three syllables."""
        while True:
            pairs = (
                self._rng.choice(CONSONANTS) + self._rng.choice(VOWELS) for _ in "abc"
            )
            word = "".join(pairs) + self._rng.choice("ktnr")
            if word not in self._used:
                self._used.add(word)
                return word

    def words(self, count: int) -> list[str]:
        """Return several."""
        return [self.word() for _ in range(count)]


def _asks(rng: random.Random, words: list[str], count: int = 4) -> list[str]:
    forms = (
        "please {0} the {1} for me",
        "how do I {0} a {1} with {2}",
        "my {1} needs a {2}, can you {0} it",
        "{0} {2} in this {1}",
        "I have a {1} and want to {0} it",
    )
    chosen = rng.sample(forms, count)
    return [form.format(*rng.sample(words, 3)) for form in chosen]


def planted_library(seed: int) -> PlantedLibrary:
    """Return a library of some twenty skills, with shadows, thieves and controls."""
    rng = random.Random(seed)  # noqa: S311 - it guards nothing
    made = _Words(rng)
    skills: list[MadeUpSkill] = []
    hidden: set[str] = set()

    def add(description: str, queries: list[str]) -> MadeUpSkill:
        skill = MadeUpSkill(f"{made.word()}-{made.word()}", description, queries)
        skills.append(skill)
        return skill

    for _ in range(rng.randint(8, 14)):
        own = made.words(6)
        text = "Can {0} any {1} and {2}. Use when {3} or {4} need {5}."
        add(text.format(*own), _asks(rng, own))
    for _ in range(rng.randint(1, 3)):  # nearly the same text, and one has more of it
        own, more = made.words(6), made.words(3)
        text = "Can {0} {1} {2} for {3} and other things that users may have today."
        one = add(text.format(*own), _asks(rng, own[:4]))
        text = (
            "Can {0} {1} {2} for {3}, {4} and {5}. "
            "Use when {0} {1} {2} {6}, {7} or {8} is asked for."
        )
        add(text.format(*own, *more), _asks(rng, more))
        hidden.add(one.name)
    for _ in range(rng.randint(1, 2)):  # a thief, and one that says nothing of its own
        own, broad = made.words(4), made.words(4)
        one = add(f"Helps with all kinds of {made.word()} work.", _asks(rng, own))
        text = "Can {0} {1}, and also {2}, {3}, {4} or {5}."
        add(text.format(*broad[:2], *own), _asks(rng, broad))
        hidden.add(one.name)
    for _ in range(rng.randint(1, 3)):  # alike, and each says what only it does
        same, mine, theirs = made.words(4), made.words(3), made.words(3)
        text = "Can {0} {1} {2} {3} with {4}, {5} and {6}."
        add(text.format(*same, *mine), _asks(rng, [*mine, *mine]))
        add(text.format(*same, *theirs), _asks(rng, [*theirs, *theirs]))
    for _ in range(rng.randint(1, 3)):  # a boundary names what it is not for
        own, others = made.words(4), made.words(4)
        one = add("Can {} {} for {} and {}.".format(*own), _asks(rng, own))
        boundary = "Do not use it to {0} {1} {2} {3}; use {4} instead."
        text = "Can {} {} {} and {}. ".format(*others)
        add(text + boundary.format(*own, one.name), _asks(rng, others))
    rng.shuffle(skills)
    return PlantedLibrary(skills, hidden)
