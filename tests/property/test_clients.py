"""Whatever the bytes, something is predicted, and the same each time."""

import pytest
from hypothesis import given, strategies as st

from satchel_lab.clients import (
    PROPERTIES,
    VERDICTS,
    Candidate,
    PackReader,
    loaders,
    predict,
)
from satchel_lab.clients._properties import properties_in
from satchel_lab.conformance._packs import PACKS

pytestmark = pytest.mark.property

_KNOWN = [
    each.data for packs in PACKS.values() for each in packs if len(each.data) < 9999
]
_SCRAPS = st.sampled_from(
    [
        *("---", "\n", "name: x", "description: ", "a: b", "  - ", "'", '"', "\t", ">"),
        *("|", " #", "{", "[", "&a", "*a", "!b", "\ufeff", "...", "\r\n", "é", "\x00"),
    ]
)


def _cut(data: bytes, at: int, scrap: str) -> bytes:
    at %= len(data) + 1
    return data[:at] + scrap.encode() + data[at:]


BYTES = st.one_of(
    st.binary(max_size=300),
    st.lists(_SCRAPS, max_size=30).map("".join).map(str.encode),
    st.builds(_cut, st.sampled_from(_KNOWN), st.integers(0, 400), _SCRAPS),
)


@given(BYTES, st.text(max_size=20))
def test_any_bytes_have_properties_in_order(data: bytes, folder: str) -> None:
    found = properties_in(PackReader(Candidate(data, folder)))

    assert found == tuple(key for key in PROPERTIES if key in found)
    assert found == properties_in(PackReader(Candidate(data, folder)))


@given(BYTES)
def test_every_loader_gets_an_outcome(data: bytes) -> None:
    told = predict(Candidate(data, "the-pack"))

    assert len(told) == len(loaders())
    assert {each.verdict for each in told} <= set(VERDICTS)
    assert all(each.reasons for each in told if each.verdict != "loaded")
