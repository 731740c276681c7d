"""Runs from Python are those of the command, byte for byte, and what they say can be recounted."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import threading
import time

import pandas
import polars
import pyarrow
import pytest

import hedgerow as hr

QUASI, SENSITIVE = ["age", "zip"], ["disease"]
COMMAND = os.environ.get("HEDGEROW_COMMAND")


def command(*words):
    done = subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def same_folders(one, other):
    """Every byte of two releases is the same, but for the time that the run took, which the manifest says and seals, and
    of which the report speaks."""
    files = [sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*.*")) for folder in (one, other)]
    assert files[0] == files[1] and "release.parquet" in files[0]
    for name in files[0]:
        texts = [(pathlib.Path(folder) / name).read_bytes() for folder in (one, other)]
        if name in ("manifest.json", "report.html"):
            texts = [re.sub(rb'("\w*seconds": [\d.e-]+|[\d.]+ m?s\b|\b[0-9a-f]{64}\b)', b"", text) for text in texts]
        assert texts[0] == texts[1], name


needs_command = pytest.mark.skipif(not COMMAND, reason="HEDGEROW_COMMAND names no command")


@needs_command
@pytest.mark.parametrize("algorithm", ["mondrian", "clustering"])
def test_anonymize_is_the_command(patients, tmp_path, algorithm):
    study = hr.draft(patients, quasi=QUASI, sensitive=SENSITIVE, k=6)
    study.algorithm.name = algorithm
    path = study.save(tmp_path / "study")
    patients.to_csv(tmp_path / "p.csv", index=False)
    release = hr.anonymize(patients, study, seed=5, out=tmp_path / "ours")
    said = command("anonymize", "--study", path, tmp_path / "p.csv", "--seed", 5, "--out", tmp_path / "theirs", "--json")
    same_folders(tmp_path / "ours", tmp_path / "theirs")
    assert release.summary.utility == said["utility"]
    assert release.summary.achieved == said["achieved"]
    # The command verifies what Python wrote, and finds the same.
    verdict = command("verify", release.path, "--study", path, "--json")
    assert verdict == json.loads(release.verify().json)


@needs_command
def test_simulate_is_the_command(patients, tmp_path):
    study = hr.draft(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)
    study.require.m = 1
    path = study.save(tmp_path / "study")
    patients.to_csv(tmp_path / "p.csv", index=False)
    ours = hr.simulate(patients, study, sites=3, split="random", seed=9, out=tmp_path / "ours", independent=True)
    theirs = command(
        "simulate", "--study", path, tmp_path / "p.csv", "--sites", 3, "--split", "random", "--seed", 9,
        "--independent", "--out", tmp_path / "theirs", "--json",
    )
    same_folders(tmp_path / "ours", tmp_path / "theirs")
    for key in ("rounds", "messages", "bytes"):
        assert ours.summary.cost[key] == theirs["cost"][key], key
    assert ours.ledger == theirs["ledger"]
    assert len(ours.ledgers) == 3 and ours.baselines == theirs["baselines"]
    # A notebook shows what every way to publish loses.
    shown = ours._repr_html_()
    for key in ("central", "joint", "each_alone"):
        assert f"{100 * theirs['baselines'][key]['ncp']:.2f} %" in shown, key


@needs_command
def test_other_answers_are_the_commands(patients, tmp_path):
    """What verify, gate, report and compare say of one release is what the command says of it."""
    study = hr.draft(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)
    path = study.save(tmp_path / "study")
    patients.to_csv(tmp_path / "p.csv", index=False)
    release = hr.anonymize(patients, study, out=tmp_path / "release")
    said = command("verify", release.path, "--study", path, "--original", tmp_path / "p.csv", "--json")
    assert said == hr.verify(release, original=patients).as_dict()
    said = command("gate", release.path, "--study", path, "--own", tmp_path / "p.csv", "--skip", ",".join(REST), "--json")
    assert said == hr.attack(release, own=[patients], skip=REST).as_dict()
    command("report", release.path, "--study", path, "--out", tmp_path / "theirs.html", "--json")
    hr.report(release).save(tmp_path / "ours.html")
    assert (tmp_path / "ours.html").read_bytes() == (tmp_path / "theirs.html").read_bytes()
    table = release.table.to_pandas()[QUASI + SENSITIVE]
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ["verify", tmp_path / "t.csv", "--quasi", "age,zip", "--sensitive", "disease", "--against", "k = 5", "--json"]
    assert command(*words) == hr.verify(table, quasi=QUASI, sensitive=SENSITIVE, require="k = 5").as_dict()


def test_originals_are_tables_in_every_form(patients, tmp_path):
    study = hr.draft(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)
    release = hr.anonymize(patients, study)
    patients.to_csv(tmp_path / "p.csv", index=False)
    arrow = pyarrow.Table.from_pandas(patients)
    found = [
        release.verify(original=one).as_dict()
        for one in (patients, polars.from_pandas(patients), arrow, tmp_path / "p.csv", str(tmp_path / "p.csv"))
    ]
    assert all(one == found[0] for one in found)
    # By hand: the share of records that are alone with their values before the release.
    sizes = patients.groupby(QUASI)["disease"].transform("size")
    assert found[0]["risk"]["uniqueness"]["before"] == pytest.approx((sizes == 1).mean())
    pages = [release.report(original=one).html for one in (patients, tmp_path / "p.csv")]
    assert pages[0] == pages[1] and "original rows" in pages[0]
    assert "original rows" not in release.report().html
    # A table that the release was not made of.
    with pytest.raises(hr.HedgerowError, match="the original: no record has a `(age|zip)`"):
        release.verify(original=patients[patients["age"] < patients["age"].max()].assign(zip="1010"))
    with pytest.raises(hr.DataError, match="the original: column `zip` of the study is missing"):
        release.verify(original=patients.drop(columns="zip"))
    with pytest.raises(hr.StudyError, match="an original can only be compared with the release of a study"):
        hr.verify(release.table, quasi=QUASI, original=patients)


def test_opened_releases_say_what_was_found(patients, tmp_path):
    study = hr.draft(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)
    made = hr.anonymize(patients, study)
    path = made.save(tmp_path / "release")
    assert sorted(os.listdir(path)) == sorted(os.listdir(made.path))
    with pytest.raises(hr.ReleaseError, match="is there already, and is kept\nhint: name another folder"):
        made.save(path)
    for opened in (hr.Release.open(path), hr.Release.open(path, study)):
        assert (opened.loss, opened.classes, opened.holds) == (made.loss, made.classes, True)
        assert opened.manifest == made.manifest and opened.risk == made.risk
        assert "<iframe" in opened._repr_html_()
    file = hr.Release.open(os.path.join(path, "release.csv"), study)
    assert file.loss == made.loss
    with pytest.raises(hr.ReleaseError, match="is no Parquet file\nhint: open the folder"):
        file.table


def test_a_release_holds_by_hand(patients):
    release = hr.anonymize(patients, quasi=QUASI, sensitive=SENSITIVE, k=7)
    frame = release.table.to_pandas()
    assert release.holds and frame.groupby(QUASI).size().min() >= 7
    assert release.classes == frame.groupby(QUASI).ngroups
    assert 0 < release.loss < 1
    assert release.verify().holds and bool(release.verify())
    assert not release.verify(require="k = 300").holds
    assert release.risk["prosecutor"] or release.risk


def test_tables_of_sites(patients):
    study = hr.draft(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)
    # Cuts are the same for any number of sites.
    study.algorithm.name = "mondrian"
    parts = [patients.iloc[:300], patients.iloc[300:330], patients.iloc[330:]]
    together = hr.simulate(parts, study)
    assert len(together.release.table) == len(patients)
    assert together.rounds > 0 and together.messages > 0 and together.bytes > 0
    alone = hr.anonymize(patients, study)
    assert sorted(map(str, together.release.table.to_pandas().values)) == sorted(
        map(str, alone.table.to_pandas().values)
    )


def test_a_column_of_sites(patients):
    patients["site"] = ["north", "south"] * (len(patients) // 2)
    study = hr.draft(patients, quasi=QUASI, sensitive=SENSITIVE, k=5, provider_column="site")
    assert "site" not in study.columns
    assert hr.simulate(patients, study, provider_column="site").summary.sites == 2


def test_a_folder_that_is_taken_is_kept(patients, tmp_path):
    study = hr.draft(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)
    hr.anonymize(patients, study, out=tmp_path / "release")
    with pytest.raises(hr.StudyError, match="hint: name another folder with out, or write over it with force"):
        hr.anonymize(patients, study, out=tmp_path / "release")
    hr.anonymize(patients, study, out=tmp_path / "release", force=True)


def test_a_changed_release_is_found(patients, tmp_path):
    study = hr.draft(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)
    release = hr.anonymize(patients, study, out=tmp_path / "release")
    file = tmp_path / "release" / "release.csv"
    file.write_text(file.read_text() + file.read_text().splitlines()[-1] + "\n")
    assert not hr.Release.open(release.path, study).verify().holds
    for name in ("release.csv", "release.parquet"):
        (tmp_path / "release" / name).write_bytes(b"no table")
    with pytest.raises(hr.ReleaseError):
        hr.verify(release)


def test_others_run_while_the_library_works(patients):
    """The lock of the interpreter is given back while the library works."""
    many = pandas.concat([patients] * 40, ignore_index=True)
    study = hr.draft(many, quasi=QUASI, sensitive=SENSITIVE, k=5)
    study.algorithm.name = "clustering"
    ticks, over = [], threading.Event()

    def tick():
        while not over.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    hr.anonymize(many, study, time=1.0)
    over.set()
    thread.join()
    assert len(ticks) > 50


def test_an_error_of_the_callers_progress_stops_the_work(patients):
    def show(kind, words, number):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        hr.anonymize(patients, quasi=QUASI, sensitive=SENSITIVE, progress=show)


def test_reports_show_themselves(patients, tmp_path):
    release = hr.anonymize(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)
    page = hr.report(release)
    assert page.html.startswith("<!DOCTYPE html>") and page.holds
    page.save(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == page.html
    shown = release._repr_html_()
    assert "<iframe sandbox" in shown and "<!DOCTYPE" not in shown.replace("&lt;!DOCTYPE", "")
    assert "holds" in release.verify()._repr_html_()


def test_names_that_are_markup_are_escaped(patients):
    frame = patients.rename(columns={"zip": "<script>alert(1)</script>"})
    study = hr.draft(frame, quasi=["age", "<script>alert(1)</script>"], sensitive=SENSITIVE, k=5)
    release = hr.anonymize(frame, study)
    for shown in (study._repr_html_(), release._repr_html_(), release.verify()._repr_html_()):
        assert "<script>" not in shown


def test_comparisons(patients):
    study = hr.draft(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)
    compared = hr.compare(patients, study, time=3.0)
    assert compared.holds and compared.recommended
    assert "mondrian" in compared._repr_html_()


REST = ["membership", "bayes", "two_releases", "newcomers", "below_k_without_two_sites"]


def test_attacks_find_what_is_certain(patients):
    """By hand: the records of classes that one disease fills."""
    frame = patients.assign(disease=["ulcer" if age > 40 else "flu" for age in patients["age"]])
    study = hr.draft(frame, quasi=QUASI, sensitive=SENSITIVE, k=5)
    study.require = {"k": 5}
    release = hr.anonymize(frame, study)
    gated = hr.attack(release, own=[frame], skip=REST)
    rows = release.table.to_pandas()
    certain = rows.groupby(QUASI)["disease"].transform("nunique").eq(1).sum()
    found = {one["attack"]: one for one in gated.attacks}
    assert certain > 0 and found["certain"]["at_risk"] == certain
    assert not gated and found["certain"]["verdict"] == "falls"
    assert {one for one in gated.skipped} == set(REST)
    assert f"{certain:,} of {len(frame):,}" in gated._repr_html_()


def test_attacks_take_paths_and_tables(patients, tmp_path):
    study = hr.draft(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)
    release = hr.anonymize(patients, study)
    patients.to_csv(tmp_path / "p.csv", index=False)
    assert hr.attack(release, own=patients).json == hr.attack(release, own=tmp_path / "p.csv").json
    with pytest.raises(hr.StudyError, match="no attack `magic`"):
        hr.attack(release, skip="magic")


@pytest.mark.skipif(not shutil.which("hedgerow-sql"), reason="hedgerow-sql is not on PATH")
def test_questions_in_sql(patients):
    study = hr.draft(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)
    study.settings.name = "people"
    release = hr.anonymize(patients, study)
    answer = hr.query(release, "SELECT disease, count(*) AS n FROM people GROUP BY disease").to_pandas()
    expected = patients["disease"].value_counts().to_dict()
    assert dict(zip(answer["disease"], answer["n"].round().astype(int))) == expected
    with pytest.raises(hr.SqlError, match="nowhere"):
        release.query("SELECT count(*) FROM nowhere")


def test_without_the_program_questions_say_what_is_missing(patients, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    release = hr.anonymize(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)
    with pytest.raises(hr.SqlError, match="hint"):
        release.query("SELECT 1")
