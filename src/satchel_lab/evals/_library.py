"""The skills that queries are routed to: every pack, by a name of its own."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Final

from satchel.model import Descriptor, FileReader
from satchel.search import Stemmer, query_words

# Words of everyday requests: they tell no skill from another, and no advice has them.
_EVERYDAY: Final = frozenset(
    (  # noqa: SIM905 - a list would be a column of words
        "able actually again ago already always another anyone anything back before "
        "best better bit both bring btw call came com come coming day days different "
        "done down each easy either else enough etc even ever every everything few "
        "find fine first found full get gets getting give given go goes going gone "
        "good got great had happen happened hello help helps here hey hi hope http "
        "https io issue keep kind know last later least less let like little long "
        "look looking lot made make makes making many maybe mean might mine minute "
        "month more most much must name need needed needs net never new next nice "
        "nothing now okay old once one ones open org other others over own part "
        "people place point possible probably problem put question quick quickly "
        "quite rather really right said same say says see seem seems seen set several "
        "show since something soon sort start still stuff sure take tell thank thanks "
        "thing things think those though thought time times today together tomorrow "
        "tonight took tried try trying two under until used user users want wants way "
        "ways week well went while whole without work working works wrong www year "
        "yes yesterday yet"
    ).split()
)
_BEFORE_NAME: Final = re.compile(r"^[@/$]|^.*[/:](?=[^/:]+$)")
_SKILL_FILE: Final = re.compile(r"/skill\.md$|/$", re.IGNORECASE)


class EvalLibrary:
    """Every pack of a library; packs with the same text count as one skill.

    A skill has its name for an id. Where others of the same name have another text,
    its location is behind the name, so that each can be told apart.
    """

    def __init__(
        self, packs: Iterable[Descriptor], readers: Mapping[str, FileReader]
    ) -> None:
        self.readers = readers
        self._words: dict[str, dict[str, str]] = {}
        self.id_of: dict[str, str] = {}
        """The skill of each pack, by the pack's location."""
        by_name: dict[str, dict[str, list[Descriptor]]] = defaultdict(dict)
        for pack in sorted(packs, key=lambda pack: pack.origin.location):
            same = by_name[pack.name or pack.id].setdefault(pack.digest, [])
            same.append(pack)
        skills: list[Descriptor] = []
        for name, by_text in by_name.items():
            for copies in by_text.values():
                first = copies[0]
                alone = len(by_text) == 1
                skill_id = name if alone else f"{name} ({first.origin.location})"
                skills.append(replace(first, id=skill_id, name=name))
                for origin in (origin for pack in copies for origin in pack.origins):
                    self.id_of[origin.location] = skill_id
        self.skills = tuple(sorted(skills, key=lambda skill: skill.id))
        self._by_id = {skill.id: skill for skill in self.skills}
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for skill in self.skills:
            folder = skill.origin.location.rpartition("/")[2]
            for name in dict.fromkeys(map(_normal, (skill.name, skill.id, folder))):
                self._by_name[name].append(skill.id)

    def ids_of(self, name: str) -> tuple[str, ...]:
        """Return the skills that an author means: by name, folder, path or plugin."""
        whole = _normal(_SKILL_FILE.sub("", name.strip()))
        for key in (whole, _normal(_BEFORE_NAME.sub("", whole))):
            if key in self._by_name:
                return tuple(self._by_name[key])
        return ()

    def is_skill(self, name: str) -> bool:
        """Return whether the library has a skill of this name."""
        return bool(self.ids_of(name))

    def get(self, skill_id: str) -> Descriptor:
        """Return the skill of an id."""
        return self._by_id[skill_id]

    @cached_property
    def _stemmer(self) -> Stemmer:
        return Stemmer()

    def words(self, text: str) -> Mapping[str, str]:
        """Return the telling words of a text in their order, by their stems."""
        words = self._words.get(text)
        if words is None:
            telling = query_words(text)
            stems = self._stemmer.stems(telling)
            words = self._words[text] = {stems[word]: word for word in telling}
        return words

    @cached_property
    def _said(self) -> Mapping[str, frozenset[str]]:
        """The stems of each skill's name and description."""
        texts = {one.id: f"{one.name} {one.description}" for one in self.skills}
        return {key: frozenset(self.words(text)) for key, text in texts.items()}

    @cached_property
    def _times_said(self) -> Counter[str]:
        return Counter(stem for stems in self._said.values() for stem in stems)

    def telling(
        self, queries: Iterable[str], *, said_by: str = "", not_by: Iterable[str] = ()
    ) -> tuple[str, ...]:
        """Return the words of queries that some skills say in their descriptions.

        Numbers, letters and words of everyday requests are left out. The words of most
        queries come first, then those that fewest skills say.

        Args:
            queries: Where the words are from.
            said_by: The skill that has to say them; empty for any word.
            not_by: The skills that do not.
        """
        words: dict[str, str] = {}
        times: Counter[str] = Counter()
        for query in queries:
            of_query = self.words(query)
            words |= of_query
            times.update(of_query.keys())
        never = frozenset[str]().union(*(self._said[one] for one in not_by))
        stems = (
            stem
            for stem, word in words.items()
            if word.isalpha()
            and len(word) > 1
            and word not in _EVERYDAY
            and stem not in never
            and (not said_by or stem in self._said[said_by])
        )
        rare = self._times_said
        ordered = sorted(stems, key=lambda stem: (-times[stem], rare[stem], stem))
        return tuple(words[stem] for stem in ordered)


def _normal(name: str) -> str:
    return name.strip().casefold().replace("_", "-").replace(" ", "-")
