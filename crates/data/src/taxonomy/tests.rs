//! Taxonomies: reading, refusing, and the laws of intervals.

use proptest::prelude::*;

use super::*;

fn rows(text: &str) -> Taxonomy {
    Taxonomy::from_rows(text, "t.csv").unwrap()
}

fn refusal(text: &str) -> String {
    Taxonomy::from_rows(text, "t.csv").unwrap_err().to_string()
}

#[test]
fn rows_need_not_be_grouped_and_leaves_follow_the_tree() {
    let taxonomy = rows("flu;lung;*\nulcer;stomach;*\nasthma;lung;*\n");
    assert_eq!(
        taxonomy.values().collect::<Vec<_>>(),
        ["flu", "asthma", "ulcer"]
    );
    let lung = taxonomy.find("lung").unwrap();
    assert_eq!(taxonomy.interval(lung), (0, 1));
    assert_eq!(taxonomy.lowest_common_ancestor(0, 1), lung);
    assert_eq!(taxonomy.lowest_common_ancestor(1, 2), taxonomy.root());
}

#[test]
fn bom_crlf_quotes_and_ragged_rows() {
    let taxonomy = rows("\u{feff}\"a;1\";X;*\r\n\"say \"\"b\"\"\";b1;X;*\r\nc;*;;\r\n");
    assert_eq!(
        taxonomy.values().collect::<Vec<_>>(),
        ["a;1", "say \"b\"", "c"]
    );
    assert_eq!(taxonomy.interval(taxonomy.find("X").unwrap()), (0, 1));
    assert_eq!(taxonomy.height(), 3);
    assert_eq!(
        Taxonomy::from_rows(&taxonomy.to_rows(), "again").unwrap(),
        taxonomy
    );
}

#[test]
fn a_label_may_stand_at_several_levels_of_one_branch() {
    let taxonomy = rows("Other;Other;*\nUnknown;Other;*\nA;A;*\n");
    let lowest = taxonomy.find("Other").unwrap();
    assert_eq!(taxonomy.interval(lowest), (0, 0));
    let above = taxonomy.parent(lowest).unwrap();
    assert_eq!(taxonomy.label(above), "Other");
    assert_eq!(taxonomy.interval(above), (0, 1));
    assert_eq!(taxonomy.value("A"), Some(2));
}

#[test]
fn two_roots() {
    assert_eq!(
        refusal("a;X;*\nb;X;Any\n"),
        "t.csv:2: two roots: `Any` here, `*` before\nhint: every row must end in the same root, usually `*`"
    );
}

#[test]
fn a_value_in_two_branches() {
    assert_eq!(
        refusal("a;X;*\nb;Y;*\na;Y;*\n"),
        "t.csv:3: `a` stands in two branches: here and at line 1\nhint: a value may have one parent only; rename one of the two"
    );
    // Inner nodes too.
    assert!(refusal("a;G;X;*\nb;G;Y;*\n").contains("`G` stands in two branches"));
}

#[test]
fn repeated_and_empty_and_parentless() {
    assert_eq!(
        refusal("a;X;*\na;X;*\n"),
        "t.csv:2: value `a` stands here again; it first stands at line 1"
    );
    assert_eq!(
        refusal(""),
        "t.csv: the taxonomy is empty\nhint: write one row for each value: value;parent;…;*"
    );
    assert_eq!(
        refusal("a;X;*\nb\n"),
        "t.csv:2: `b` has no parent\nhint: write at least value;root, e.g. b;*"
    );
    assert_eq!(
        refusal("a;;*\n"),
        "t.csv:1: column 2 is empty, expected a label"
    );
    assert!(refusal("X;*\na;X;*\n").contains("both a value and a node"));
    assert!(refusal("a;X;*\nX;*\n").contains("both a value and a node"));
}

#[test]
fn lines_are_right_after_crlf_and_blank_lines() {
    let repeated = "value `a` stands here again; it first stands at line 1";
    assert_eq!(
        refusal("a;X;*\r\nb;X;*\r\na;X;*\r\n"),
        format!("t.csv:3: {repeated}")
    );
    assert_eq!(
        refusal("a;X;*\n\n\nb;X;*\na;X;*\n"),
        format!("t.csv:5: {repeated}")
    );
    assert_eq!(
        refusal("a,X,*\n"),
        "t.csv:1: `a,X,*` has no parent\nhint: columns are separated by semicolons, not commas"
    );
}

#[test]
fn invalid_utf8_names_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, b"a;*\nb\xff;*\n").unwrap();
    assert_eq!(
        Taxonomy::open(&path, "t.csv").unwrap_err().to_string(),
        "t.csv:2: not valid UTF-8"
    );
}

#[test]
fn pairs_give_the_same_tree_as_rows() {
    let from_pairs = Taxonomy::from_text(
        "parent;child\n*;lung\nlung;flu\nlung;asthma\n*;stomach\nstomach;ulcer\n",
        "p",
    );
    assert_eq!(
        from_pairs.unwrap(),
        rows("flu;lung;*\nasthma;lung;*\nulcer;stomach;*\n")
    );
    let refusal = |text| Taxonomy::from_pairs(text, "p.csv").unwrap_err().to_string();
    assert!(refusal("a;b\nb;c\nc;a\n").contains("is its own ancestor"));
    assert!(refusal("*;x\n*;y\na;b\nb;a\n").contains("is its own ancestor"));
    assert!(refusal("a;b\nb;a\na;c\n").contains("is its own ancestor"));
    assert!(refusal("*;a\nAny;b\n").contains("two roots"));
    assert!(refusal("*;x\n*;y\nx;a\ny;a\n").contains("two branches"));
    assert_eq!(
        refusal("a;b;c\n"),
        "p.csv:1: 3 columns, expected two: parent;child"
    );
}

#[test]
fn widths_and_prefixes() {
    let ages = integer_widths(0, 12, 1, &[5, 10]).unwrap();
    assert_eq!(ages.to_rows().lines().next(), Some("0;[0-4];[0-9];*"));
    assert_eq!(ages.to_rows().lines().last(), Some("12;[10-12];[10-12];*"));
    let even = integer_widths(0, 9, 2, &[4]).unwrap();
    assert_eq!(even.values().collect::<Vec<_>>(), ["0", "2", "4", "6", "8"]);
    assert_eq!(even.label(even.parent(even.leaf(1)).unwrap()), "[0-2]");
    assert!(
        integer_widths(0, 9, 1, &[4, 6])
            .unwrap_err()
            .to_string()
            .contains("not a multiple")
    );
    let zips = prefixes(&["12345", "12361", "12471"], 2).unwrap();
    assert_eq!(
        zips.to_rows(),
        "12345;123**;1****;*\n12361;123**;1****;*\n12471;124**;1****;*\n"
    );
    let icd = prefixes(&["A00", "A001", "B1"], 1).unwrap();
    assert_eq!(
        icd.to_rows(),
        "A00;A00*;A0*;A*;*\nA001;A00*;A0*;A*;*\nB1;B1*;B*;*\n"
    );
}

/// A naive tree: every node is the list of its digits from the root down. Values stand at depths
/// 1 to 4, none of them above another.
fn naive_paths() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let path = proptest::collection::vec(0..3u8, 1..=4);
    proptest::collection::btree_set(path, 1..30)
        .prop_map(|set| {
            let is_above = |a: &Vec<u8>, b: &Vec<u8>| a != b && b.starts_with(a);
            let lowest = set
                .iter()
                .filter(|path| !set.iter().any(|other| is_above(path, other)));
            lowest.cloned().collect::<Vec<_>>()
        })
        .prop_shuffle()
}

fn label(path: &[u8]) -> String {
    path.iter().map(|digit| char::from(b'a' + digit)).collect()
}

proptest! {
    #[test]
    fn interval_laws_agree_with_a_naive_tree(paths in naive_paths(), picks in proptest::collection::vec(0..1000usize, 1..6)) {
        // A row for each path; some repeat the value, as files do to fill their columns.
        let text: String = paths.iter().map(|path| {
            let mut row: Vec<String> = (1..=path.len()).rev().map(|n| label(&path[..n])).collect();
            if path[0] == 0 { row.insert(0, row[0].clone()); }
            row.push("*".into());
            row.join(";") + "\n"
        }).collect();
        let taxonomy = Taxonomy::from_rows(&text, "naive").unwrap();
        prop_assert_eq!(taxonomy.leaf_count() as usize, paths.len());

        // Ancestor = containment of intervals = prefix of paths.
        for above in 0..taxonomy.node_count() {
            for below in 0..taxonomy.node_count() {
                let (name, other) = (taxonomy.label(above), taxonomy.label(below));
                // A repeated label stands above itself: told apart by position.
                let is_prefix = if name == other {
                    above <= below
                } else {
                    name == "*" || (other != "*" && other.starts_with(name))
                };
                prop_assert_eq!(taxonomy.is_ancestor(above, below), is_prefix);
                let (a, b) = (taxonomy.interval(above), taxonomy.interval(below));
                if is_prefix {
                    prop_assert!(a.0 <= b.0 && b.1 <= a.1);
                } else if !taxonomy.is_ancestor(below, above) {
                    prop_assert!(a.1 < b.0 || b.1 < a.0, "branches are disjoint");
                }
            }
        }

        // The lowest common ancestor of a set is the least covering node.
        let set: Vec<u32> = picks.iter().map(|pick| (pick % paths.len()) as u32).collect();
        let (least, greatest) = (*set.iter().min().unwrap(), *set.iter().max().unwrap());
        let found = taxonomy.lowest_common_ancestor(least, greatest);
        let covers = |node: NodeId| {
            let (first, last) = taxonomy.interval(node);
            set.iter().all(|leaf| first <= *leaf && *leaf <= last)
        };
        prop_assert!(covers(found));
        for node in 0..taxonomy.node_count() {
            if covers(node) {
                prop_assert!(taxonomy.is_ancestor(node, found));
            }
        }
        prop_assert_eq!(Taxonomy::from_rows(&taxonomy.to_rows(), "again").unwrap(), taxonomy);
    }
}

/// Reading takes time in proportion to the file: a study may name a large one.
#[test]
fn a_large_file_is_read_in_a_moment() {
    let mut text = String::new();
    for value in 0..200_000 {
        text.push_str(&format!("{value:06};{:04};*\n", value / 100));
    }
    let started = std::time::Instant::now();
    Taxonomy::from_rows(&text, "t.csv").unwrap();
    // Quadratic work would take minutes.
    assert!(started.elapsed() < std::time::Duration::from_secs(30));
    let twice = format!("{text}000000;0000;*\n");
    let error = Taxonomy::from_rows(&twice, "t.csv")
        .unwrap_err()
        .to_string();
    assert!(error.contains("t.csv:200001"), "{error}");
}

/// A tree that is written reads back, whatever its labels look like.
#[test]
fn a_written_tree_is_read_as_rows() {
    for (value, root) in [
        ("parent", "child"),
        ("parent", "child  "),
        ("\u{feff}", "*"),
        ("\u{feff}parent", "child"),
        ("", "*"),
        ("a;b", "*"),
        ("say \"x\"", "*"),
        ("two\nlines", "all\r"),
    ] {
        let mut rows = Vec::new();
        for label in [value, root] {
            rows.extend((!rows.is_empty()).then_some(b';'));
            rows.push(b'"');
            rows.extend(label.replace('"', "\"\"").bytes());
            rows.push(b'"');
        }
        let rows = String::from_utf8(rows).unwrap();
        let tree = Taxonomy::from_rows(&rows, "t.csv").unwrap();
        assert_eq!(tree.values().collect::<Vec<_>>(), [value]);
        let written = tree.to_rows();
        assert_eq!(
            Taxonomy::from_text(&written, "t.csv").unwrap(),
            tree,
            "{written:?}"
        );
    }
    // Rows have no way to write an empty label above values, so no other form may have one.
    let error = Taxonomy::from_pairs("parent;child\n;a\n", "t.csv").unwrap_err();
    assert!(error.to_string().starts_with("t.csv:2"), "{error}");
}

#[test]
fn no_other_file_is_read_as_a_taxonomy() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("study");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(folder.path().join("tree.csv"), "a;*\n").unwrap();
    std::fs::write(inner.join("tree.csv"), "a;*\n").unwrap();
    assert!(Taxonomy::of_release(&inner, "tree.csv").is_ok());
    let absolute = folder.path().join("tree.csv").display().to_string();
    for name in [
        "../tree.csv",
        "./../tree.csv",
        absolute.as_str(),
        "/dev/zero",
    ] {
        let error = Taxonomy::of_release(&inner, name).unwrap_err().to_string();
        assert!(error.contains("leads out of the folder"), "{error}");
    }
    // A key lies beside the study more often than not.
    std::fs::write(inner.join("site.key"), format!("{SECRET_KEY}00ff00ff\n")).unwrap();
    let error = Taxonomy::of_release(&inner, "site.key")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("a secret key") && !error.contains("00ff"),
        "{error}"
    );
    assert!(Taxonomy::of_release(&inner, ".").is_err());
    let endless = Taxonomy::open(std::path::Path::new("/dev/zero"), "zero").unwrap_err();
    assert!(endless.to_string().contains("no file"), "{endless}");
}

#[test]
fn what_is_wrong_can_be_told_without_the_words_of_the_file() {
    for text in [
        "Secret\n",
        "Secret;a;*\nSecret;b;*\n",
        "a;Secret\nb;*\n",
        "a;Secret;*\nSecret;b;*\n",
        "a;;Secret\n",
        "parent;child\nSecret;a\na;Secret\n",
    ] {
        let error = Taxonomy::from_text(text, "tree.csv").unwrap_err();
        let told = error.without_words();
        assert!(
            told.starts_with("tree.csv:") && !told.contains("Secret"),
            "{told}"
        );
    }
}
