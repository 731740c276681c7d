"""Studies: drafted, changed key by key, saved, opened again."""

import copy

import pytest

import hedgerow as hr


@pytest.fixture
def study(patients):
    return hr.draft(patients, quasi=["age", "zip"], sensitive=["disease"], k=5)


def test_keys_are_read_and_set(study):
    assert study.require.k == 5 and study.require["k"] == 5
    study.require.k = 8
    study.require.l = {"at_least": 2, "kind": "distinct"}
    assert study.require.l == {"at_least": 2, "kind": "distinct"}
    study.columns["age"].role = "sensitive"
    assert study.columns["age"].role == "sensitive"
    del study.require.l
    assert "l" not in study.require and study.require.l is None
    assert list(study.columns) == ["age", "zip", "disease"]
    assert "k = 8" in study.text


def test_comments_stay(patients):
    study = hr.draft(patients)
    lines = [line for line in study.text.splitlines() if line.startswith("#")]
    study.require.k = 3
    assert lines and all(line in study.text for line in lines)


def test_saved_studies_are_whole(study, tmp_path, patients):
    study.require.k = 9
    path = study.save(tmp_path / "study")
    again = hr.Study.open(path)
    assert again.require.k == 9 and again.text == study.text
    assert hr.anonymize(patients, again).summary.achieved["k"] >= 9
    with pytest.raises(hr.StudyError, match="hint: name another folder"):
        study.save(tmp_path / "study")


def test_a_copy_is_another_study(study):
    other = study.copy()
    other.require.k = 50
    assert study.require.k == 5


def test_copies_of_the_copy_module_are_studies(study):
    other, deep = copy.copy(study), copy.deepcopy(study)
    other.require.k, deep.require.k = 6, 7
    assert (study.require.k, other.require.k, deep.require.k) == (5, 6, 7)


def test_tables_in_memory_have_a_name_for_sql(study, patients, tmp_path):
    assert study.name == "data"
    patients.to_csv(tmp_path / "visits.csv", index=False)
    assert hr.draft(tmp_path / "visits.csv").name == "visits"


def test_k_of_a_call_leaves_the_study_as_it_is(study, patients):
    release = hr.anonymize(patients, study, k=20)
    assert release.summary.achieved["k"] >= 20 and study.require.k == 5


def test_what_is_wrong_is_said_when_the_study_is_used(study, patients):
    study.require.k = "many"
    with pytest.raises(hr.StudyError) as error:
        hr.anonymize(patients, study)
    assert str(error.value).startswith("study.toml:") and "`require.k`" in str(error.value)


def test_what_no_study_can_say_is_refused(study):
    with pytest.raises(hr.StudyError, match="cannot say"):
        study.require.k = object()
    with pytest.raises(KeyError):
        study.columns["salary"]
    with pytest.raises(TypeError, match="identifier"):
        del study.columns["age"]


def test_a_study_shows_itself(study):
    assert "age" in study._repr_html_() and "k" in study._repr_html_()
    assert "people" in study.show() or "record" in study.show()
    assert "3 columns" in repr(study)


def test_parse_and_hierarchies(tmp_path, patients):
    zips = sorted(set(patients["zip"]))
    (tmp_path / "zip.csv").write_text("".join(f"{zip};{zip[:2]}**;*\n" for zip in zips))
    study = hr.draft(patients, quasi=["age", "zip"], sensitive=["disease"], k=5, hierarchies=tmp_path)
    study.save(tmp_path / "saved")
    text = (tmp_path / "saved" / "study.toml").read_text()
    parsed = hr.Study.parse(text, tmp_path / "saved")
    labels = set(hr.anonymize(patients, parsed).table.to_pandas()["zip"])
    assert labels <= {"*", *(f"{zip[:2]}**" for zip in zips), *zips}
