"""The hostile requests of all kinds: the same seed and number give the same request, but for the ids in it."""

import random

import hostile_calls  # noqa: F401
import hostile_framing  # noqa: F401
import hostile_volume  # noqa: F401
from shots import KINDS

_MAKERS = [make for make, _ in KINDS]
_WEIGHTS = [weight for _, weight in KINDS]


def shot_at(seed, number, target):
    rng = random.Random(f"{seed}/{number}")
    make = rng.choices(_MAKERS, _WEIGHTS)[0]
    shot = make(rng, target)
    shot.kind = make.__name__
    return shot
