from satchel.server._guard._authentication import AuthenticatedCaller
from satchel.server._guard._limits import McpSessionLimit
from satchel.server._library import ANYONE

ANA, BO = AuthenticatedCaller(ANYONE, "ana"), AuthenticatedCaller(ANYONE, "bo")


def held(most: int) -> McpSessionLimit:
    sessions = McpSessionLimit(most)
    for name, who in (("a1", ANA), ("b1", BO), ("b2", BO)):
        sessions.began(name, who)
        sessions.began(name, ANA)  # each answer of a session names it
    return sessions


def test_within_the_bound_all_stay() -> None:
    assert held(3).pop_surplus() is None


def test_the_idlest_of_who_has_most_goes() -> None:
    sessions = held(2)

    with sessions.using("b1"):
        pass

    assert sessions.pop_surplus() == ("b2", BO)
    assert sessions.pop_surplus() is None


def test_one_in_use_stays() -> None:
    sessions = held(0)

    with sessions.using("b1"), sessions.using("b1"), sessions.using("b2"):
        assert sessions.pop_surplus() == ("a1", ANA)
        assert sessions.pop_surplus() is None
    assert sessions.pop_surplus() == ("b2", BO)


def test_what_ended_is_forgotten() -> None:
    sessions = held(3)

    with sessions.using("a1"), sessions.using("unknown"):
        sessions.ended("a1")
        sessions.ended("a1")

    assert len(sessions) == 2
