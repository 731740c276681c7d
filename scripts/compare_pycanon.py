"""Compares `hedgerow verify` with pyCANON on random and real generalized tables.

Usage: compare_pycanon.py PATH-TO-HEDGEROW

Nine measures are compared: k, (alpha,k), distinct l, entropy l, recursive (c,l), basic and
enhanced beta, delta-disclosure, t-closeness. Four of pyCANON's definitions differ from the
literature's; for these the difference is named, and ours is checked by hand:

- entropy l: pyCANON truncates e^H to an integer, which loses a whole number to rounding
  (e^ln 2 = 1.9999999999999998 gives 1). We report 2^H and its floor must agree.
- recursive (c,l): pyCANON sorts the counts ascending, so its r_1 is the rarest value, and rounds
  c up to the next integer. The definition (Machanavajjhala et al. 2006) has them descending; ours
  is the exact r_1 / (r_l + r_{l+1} + ...).
- enhanced beta: pyCANON gives max over p of min(max gain, -ln p) for the whole table. The
  definition (Cao and Karras 2012) bounds each value's gain by min(beta, -ln p): the least such
  beta is the greatest gain, and there is none if a gain exceeds its -ln p.
- delta-disclosure: pyCANON passes over the values that a class lacks, which we report as
  `delta_present`. The definition (Brickell and Shmatikov 2008) speaks of every value of the table:
  ln 0 is not finite, so there is no delta where a class lacks one.
"""

import collections
import fractions
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import warnings

import pandas
from pycanon import anonymity

import tables

TABLES = 36


def hedgerow(binary, table):
    with tempfile.TemporaryDirectory() as folder:
        release, study = table.write(pathlib.Path(folder))
        done = subprocess.run(
            [binary, "verify", release, "--study", study, "--against", table.against, "--json"], capture_output=True, text=True
        )
        if done.returncode != 0:
            raise AssertionError(f"{table.name}: exit {done.returncode}: {done.stderr}")
        return {name: model for name, model in json.loads(done.stdout)["models"].items()}


def by_hand(table):
    """Entropy l, recursive c for the common l, the least enhanced beta, and delta, from the definitions."""
    quasi = [table.header.index(name) for name in table.quasi]
    histograms = []
    for name in table.sensitive:
        place = table.header.index(name)
        classes = collections.defaultdict(collections.Counter)
        for row in table.rows:
            classes[tuple(row[q] for q in quasi)][row[place]] += 1
        histograms.append((collections.Counter(row[place] for row in table.rows), classes))
    common_l = min(len(counts) for _, classes in histograms for counts in classes.values())
    least_entropy, worst_c, worst_beta, worst_delta = [], [], [], []
    for whole, classes in histograms:
        for counts in classes.values():
            shares = [count / sum(counts.values()) for count in counts.values()]
            least_entropy.append(math.prod(share**-share for share in shares))
            descending = sorted(counts.values(), reverse=True)
            worst_c.append(fractions.Fraction(descending[0], sum(descending[common_l - 1 :])))
            size = sum(counts.values())
            for value, count in counts.items():
                p = fractions.Fraction(whole[value], len(table.rows))
                gain = fractions.Fraction(count, size) / p - 1
                over = float(gain) > -math.log(p) * (1 + 1e-9)
                worst_beta.append(math.inf if over else float(gain))
            for value, count in whole.items():
                share = counts[value] / size
                worst_delta.append(abs(math.log(share * len(table.rows) / count)) if share else math.inf)
    return min(least_entropy), common_l, float(max(worst_c)), max(worst_beta), max(worst_delta)


def compare(binary, table):
    frame = pandas.DataFrame(table.rows, columns=table.header)
    ours = hedgerow(binary, table)
    achieved = {name: model["achieved"] for name, model in ours.items()}
    quasi, sensitive = table.quasi, table.sensitive
    problems = []

    def same(what, mine, theirs):
        if mine is None or abs(mine - theirs) > 1e-9 * max(1.0, abs(theirs)):
            problems.append(f"{table.name}: {what}: hedgerow {mine}, expected {theirs}")

    alpha, k = anonymity.alpha_k_anonymity(frame, quasi, sensitive)
    same("k", achieved["k"], anonymity.k_anonymity(frame, quasi))
    same("k of (alpha,k)", achieved["k"], k)
    same("alpha", achieved["alpha"], alpha)
    same("distinct l", achieved["l_distinct"], anonymity.l_diversity(frame, quasi, sensitive))
    same("basic beta", achieved["beta_basic"], anonymity.basic_beta_likeness(frame, quasi, sensitive))
    same("delta of present values", achieved["delta_present"], anonymity.delta_disclosure(frame, quasi, sensitive))
    same("t", achieved["t"], anonymity.t_closeness(frame, quasi, sensitive))

    # Named differences.
    theirs = anonymity.entropy_l_diversity(frame, quasi, sensitive)
    floor = math.floor(achieved["l_entropy"] + 1e-9)
    is_lost = floor == theirs + 1 and abs(achieved["l_entropy"] - floor) < 1e-9
    if not is_lost:
        same("entropy l, floor", floor, theirs)
    entropy_l, common_l, c, beta, delta = by_hand(table)
    same("entropy l (by hand)", achieved["l_entropy"], entropy_l)
    same("entropy l, floor as reported", ours["l_entropy"]["floor"], math.floor(entropy_l + 1e-9))
    same("recursive l", ours["l_recursive"]["l"], common_l)
    same("recursive c (by hand)", achieved["l_recursive"], c)
    if math.isinf(beta):
        if achieved["beta_enhanced"] is not None:
            problems.append(f"{table.name}: enhanced beta: no beta would do, hedgerow {achieved['beta_enhanced']}")
    else:
        same("enhanced beta (by hand)", achieved["beta_enhanced"], beta)
    if math.isinf(delta):
        if achieved["delta"] is not None:
            problems.append(f"{table.name}: delta: no delta would do, hedgerow {achieved['delta']}")
    else:
        same("delta (by hand)", achieved["delta"], delta)
    # And pyCANON's own figure follows from ours: min(greatest gain, -ln of the rarest p).
    rarest = [-math.log(min(frame[name].value_counts()) / len(frame)) for name in sensitive]
    attributes = ours["beta_basic"].get("attributes", {})
    gains = [attributes[name]["achieved"] for name in sensitive]
    same(
        "pyCANON's enhanced beta",
        max(min(gain, cap) for gain, cap in zip(gains, rarest)),
        anonymity.enhanced_beta_likeness(frame, quasi, sensitive),
    )
    return problems, is_lost


def main():
    warnings.filterwarnings("ignore")
    binary = sys.argv[1]
    chosen = [tables.random_table(seed) for seed in range(TABLES)]
    chosen.append(tables.census_table(binary, 1500))
    if tables.shared_data():
        levels = dict.fromkeys(tables.ADULT, 1) | {"age": 3, "education": 2}
        chosen.append(tables.adult_table(1500, levels))
    else:
        tables.skip("real tables", "set HEDGEROW_DATA to their folder")
    failed = lost = alone = 0
    for table in chosen:
        problems, is_lost = compare(binary, table)
        lost += is_lost
        alone += any(count == 1 for count in collections.Counter(tuple(r[:2]) for r in table.rows).values())
        failed += bool(problems)
        for problem in problems:
            print(problem)
    print(f"{alone} tables with classes of one; entropy l lost to rounding by pyCANON in {lost}")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
