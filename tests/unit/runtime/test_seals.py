"""What a fingerprint tells apart: an approval is for these arguments and no others."""

from fractions import Fraction

import pytest

from satchel.runtime._used_approvals import fingerprint


@pytest.mark.row("T08")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": "1"}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": object()}, {"a": Fraction(1, 2)}),
        ({"a": {1, 2}}, {"a": {1, 3}}),
    ],
)
def test_other_arguments_have_another_fingerprint(one: object, other: object) -> None:
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.row("T08")
@pytest.mark.parametrize(
    ("one", "same"), [({"a": 1, "b": 2}, {"b": 2, "a": 1}), ({"a": {1, 2}},) * 2]
)
def test_equal_arguments_have_one_fingerprint(one: object, same: object) -> None:
    assert fingerprint(one) == fingerprint(same)
