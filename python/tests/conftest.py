"""Tables that tests share."""

import random

import pandas
import pytest


def people(rows=400, seed=7):
    """Invented patients, skewed: most have the flu, ages are mostly low."""
    draw = random.Random(seed)
    return pandas.DataFrame(
        {
            "age": [min(90, 20 + int(draw.expovariate(0.04))) for _ in range(rows)],
            "zip": [f"{draw.choice([10, 10, 10, 20, 30])}{draw.randrange(10, 20)}" for _ in range(rows)],
            "disease": draw.choices(["flu", "ulcer", "asthma"], [6, 3, 1], k=rows),
        }
    )


@pytest.fixture
def patients():
    return people()


@pytest.fixture
def published():
    """Two classes of two."""
    return pandas.DataFrame(
        {
            "age": ["[20-39]", "[20-39]", "[40-59]", "[40-59]"],
            "zip": ["10*", "10*", "20*", "20*"],
            "disease": ["flu", "ulcer", "flu", "ulcer"],
        }
    )
