"""How other loaders of packs will see one: measured where they run, else documented.

`predict` says for each loader what becomes of a pack, why, and what to change. What it
knows is data: ``measured.json``, written by ``python -m tools.loaders measure``, and
``documented.json``, claims with their source and date. Detectors find which properties
a pack has; the data says what each loader makes of each property.
"""

from satchel.compat.candidate import Candidate
from satchel.compat.data import read_documented, read_measured
from satchel.compat.loaders import (
    Loader,
    UnknownLoaderError,
    choose_loaders,
    loaders,
)
from satchel.compat.prediction import predict
from satchel.compat.verdict import VERDICTS, Outcome, Shown, Verdict, worst_verdict

__all__ = [
    "VERDICTS",
    "Candidate",
    "Loader",
    "Outcome",
    "Shown",
    "UnknownLoaderError",
    "Verdict",
    "choose_loaders",
    "loaders",
    "predict",
    "read_documented",
    "read_measured",
    "worst_verdict",
]
