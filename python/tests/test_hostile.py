"""What a hostile or hurried caller does: values that no study says, studies that change while they are used, roles said
twice, days beside moments. Each is an error of the package, and changes nothing."""

import copy
import datetime

import pandas
import pytest

import hedgerow as hr
from conftest import people


@pytest.fixture
def study():
    return hr.draft(people(80), quasi=["age", "zip"], sensitive=["disease"], k=4)


def nested(deep):
    value = []
    for _ in range(deep):
        value = [value]
    return value


def within_itself():
    value = []
    value.append(value)
    return value


@pytest.mark.parametrize("value", ["\ud800", nested(100_000), within_itself(), 2**70, {1: 2}, object(), {"a": object()}])
def test_what_no_study_says_is_refused_and_changes_nothing(study, value):
    before = study.text
    with pytest.raises(hr.StudyError, match="a study cannot say"):
        study.require.k = value
    with pytest.raises(hr.StudyError, match="a study cannot say"):
        study.require = {"k": 5, "l": value}
    with pytest.raises(hr.StudyError, match="a study cannot say"):
        study.columns["age"] = {"role": value}
    assert study.text == before


def test_a_section_may_be_given_to_itself_and_copied(study):
    before = dict(study.require)
    study.require = study.require
    assert dict(study.require) == before and before["k"] == 4
    with pytest.raises(hr.StudyError, match="is no section"):
        study.require = 5
    assert dict(study.require) == before
    assert dict(copy.copy(study.require)) == before
    study.columns["age"] = dict(study.columns["age"])
    study.require = {"k": 6}
    assert dict(study.require) == {"k": 6} and study.columns["age"].role == "quasi"


def test_values_may_use_the_study_that_they_go_to(study):
    def values():
        yield from ["asthma", "flu"]
        assert study.require.k == 4
        hr.anonymize(people(80), study)
        yield "ulcer"

    study.columns["disease"]["values"] = values()
    assert study.columns["disease"].values is not None
    assert list(study.columns["disease"]["values"]) == ["asthma", "flu", "ulcer"]


def test_roles_are_said_once(study):
    release = hr.anonymize(people(80), study)
    for roles in [{"quasi": "nope"}, {"sensitive": ["nope"]}, {"quasi": ["disease"]}]:
        for looked, more in [(release, {}), (people(80), {"study": study})]:
            with pytest.raises(hr.StudyError, match="the study says which columns"):
                hr.verify(looked, **roles, **more)
    assert hr.verify(release).holds
    assert hr.verify(release.table, quasi=["disease"], sensitive=["age"]).models["k"]["achieved"] == hr.k_anonymity(release, "disease")
    for measure in [hr.l_diversity, hr.measures]:
        with pytest.raises(hr.StudyError, match="nothing says which columns are sensitive"):
            measure(people(80), "age", None)
    for work in [lambda: hr.simulate(people(80), None, sites=3), lambda: hr.compare(people(80), None)]:
        with pytest.raises(hr.StudyError, match="no study"):
            work()


def test_the_number_of_sites_is_said_once(study):
    rows = people(80)
    rows["site"] = [row % 3 for row in range(80)]
    for tables, more in [([rows, rows], {"sites": 5}), (rows, {"sites": 2, "provider_column": "site"})]:
        with pytest.raises(hr.StudyError, match="the number of sites is said twice"):
            hr.simulate(tables, study, **more)


@pytest.mark.parametrize("limit", [float("nan"), -1, 2, "x"])
def test_limits_are_shares(study, limit):
    release = hr.anonymize(people(80), study)
    with pytest.raises(hr.StudyError, match="give a share from 0 to 1"):
        hr.attack(release, limits={"skew": limit})


def test_objects_keep_their_time_of_day():
    def column(*values):
        return pandas.DataFrame({"a": pandas.Series(values, dtype=object)})

    day, moment = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, 5)
    stamp = pandas.Timestamp("2020-01-01 05:00")
    for values in [(day, moment), (moment, day), (day, stamp), (stamp, stamp.tz_localize("UTC"))]:
        with pytest.raises(hr.DataError, match="column `a`"):
            hr.k_anonymity(column(*values), "a")
    first = pandas.Timestamp("2020-01-01 00:00:00.000000001")
    assert hr.k_anonymity(column(first, first + pandas.Timedelta(1, "ns")), "a") == 1
    assert hr.k_anonymity(column(first, None, first, None), "a") == 2
    assert hr.k_anonymity(column(day, day), "a") == 2
    # As in a file, where nothing stands.
    assert hr.k_anonymity(column("", None), "a") == 2


def test_a_study_may_be_read_while_tables_are_checked_against_it(study):
    read = []

    class Slow:
        def __arrow_c_stream__(self, requested_schema=None):
            read.append(study.require.k)
            study.require.k = 3
            return people(80).__arrow_c_stream__(requested_schema)

    assert "80 records" in study.check(Slow())
    assert read == [4] and study.require.k == 3
