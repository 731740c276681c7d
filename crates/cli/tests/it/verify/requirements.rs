//! `--against`: another requirement than the study's.

use crate::{assert_refused, hedgerow, small};

#[test]
fn a_close_failure_shows_all_digits() {
    let folder = small();
    let done = hedgerow(
        folder.path(),
        &[
            "verify",
            "release.csv",
            "--study",
            "study.toml",
            "--against",
            "alpha = 0.66666",
        ],
    );
    assert!(done.stdout.contains("<= 0.66666"), "{}", done.stdout);
    assert!(
        done.stdout.contains("0.6666666666666666"),
        "{}",
        done.stdout
    );
}

#[test]
fn bad_requirements() {
    let folder = small();
    let against = |demand: &str| {
        hedgerow(
            folder.path(),
            &[
                "verify",
                "release.csv",
                "--study",
                "study.toml",
                "--against",
                demand,
            ],
        )
    };
    assert_refused(
        &against("require"),
        "--against: `require` is no requirement\nhint: give a .toml file with a [require] table, or a line such as 'k = 10, l = 3'",
    );
    assert_refused(
        &against("k = 0"),
        "--against:1: `require.k` is 0, expected 1 or more",
    );
    assert_refused(
        &against("l = 4"),
        "--against:1: `require.l` is 4, but `disease` has only 3 values\nhint: the largest l that can be met is 3",
    );
    assert_refused(
        &against("t = 2"),
        "--against:1: `require.t` is 2, expected from 0 to 1",
    );
    std::fs::write(
        folder.path().join("strict.toml"),
        "[require]\nk = 2\nll = 3\n",
    )
    .unwrap();
    assert_refused(
        &against("strict.toml"),
        "strict.toml:3: unknown key `ll` in `require`\nhint: did you mean `l`?",
    );
}
