"""The measures, recounted by hand from the rows."""

import collections
import math
import random

import pandas
import pytest

import hedgerow as hr


def tables():
    for seed in range(12):
        draw = random.Random(seed)
        rows = draw.choice([8, 40, 300])
        yield pandas.DataFrame(
            {
                "a": [draw.randrange(3) for _ in range(rows)],
                "b": draw.choices(["x", "y"], [5, 1], k=rows),
                "s": draw.choices(["p", "q", "r"], [6, 2, 1], k=rows),
                "u": draw.choices(["m", "n"], [3, 1], k=rows),
            }
        )


def classes(frame, quasi, sensitive):
    found = collections.defaultdict(collections.Counter)
    for row in frame.to_dict("records"):
        found[tuple(row[name] for name in quasi)][row[sensitive]] += 1
    return list(found.values())


@pytest.mark.parametrize("frame", list(tables()), ids=lambda frame: f"{len(frame)} rows")
def test_measures_by_hand(frame):
    quasi, whole = ["a", "b"], collections.Counter(frame["s"])
    counts = classes(frame, quasi, "s")
    sizes = [sum(counter.values()) for counter in counts]
    assert hr.k_anonymity(frame, quasi) == min(sizes)
    alpha = max(max(counter.values()) / size for counter, size in zip(counts, sizes))
    assert hr.alpha_k_anonymity(frame, quasi, ["s"]) == (pytest.approx(alpha), min(sizes))
    assert hr.l_diversity(frame, quasi, "s") == min(map(len, counts))

    def gain(counter, size):
        return max(count / size / (whole[value] / len(frame)) - 1 for value, count in counter.items())

    assert hr.basic_beta_likeness(frame, quasi, "s") == pytest.approx(max(map(gain, counts, sizes)))

    def delta(counter, size):
        return max(abs(math.log(count / size / (whole[value] / len(frame)))) for value, count in counter.items())

    assert hr.delta_disclosure(frame, quasi, "s") == pytest.approx(max(map(delta, counts, sizes)))

    def distance(counter, size):
        return sum(abs(counter[value] / size - whole[value] / len(frame)) for value in whole) / 2

    assert hr.t_closeness(frame, quasi, "s") == pytest.approx(max(map(distance, counts, sizes)))
    entropies = [math.prod((c / s) ** -(c / s) for c in counter.values()) for counter, s in zip(counts, sizes)]
    assert hr.entropy_l_diversity(frame, quasi, "s") == math.floor(min(entropies) + 1e-9)
    found = hr.measures(frame, quasi, "s")
    assert found.l_entropy == pytest.approx(min(entropies))
    assert found.delta == hr.delta_disclosure(frame, quasi, "s")
    common = min(map(len, counts))
    c = max(sorted(counter.values())[-1] / sum(sorted(counter.values(), reverse=True)[common - 1 :]) for counter in counts)
    assert hr.recursive_c_l_diversity(frame, quasi, "s") == (pytest.approx(c), common)


@pytest.mark.parametrize("frame", list(tables()), ids=lambda frame: f"{len(frame)} rows")
def test_several_sensitive_attributes(frame):
    quasi, both = ["a", "b"], ["s", "u"]
    together = min(len(counter) for name in both for counter in classes(frame, quasi, name))
    assert hr.l_diversity(frame, quasi, both) == together
    apart = min(
        len(counter)
        for name in both
        for counter in classes(frame, quasi + [other for other in both if other != name], name)
    )
    assert hr.l_diversity(frame, quasi, both, gen=False) == apart


def test_beta_without_bound_is_infinite():
    frame = pandas.DataFrame({"a": [1, 1, 2, 2], "s": ["p", "p", "q", "q"]})
    assert hr.enhanced_beta_likeness(frame, "a", "s") == math.inf


def test_a_release_is_measured_by_its_rows(patients):
    release = hr.anonymize(patients, quasi=["age", "zip"], sensitive=["disease"], k=5)
    assert hr.k_anonymity(release, ["age", "zip"]) == release.summary.achieved["k"]
    assert hr.measures(release.table, ["age", "zip"], "disease").k == release.summary.achieved["k"]
