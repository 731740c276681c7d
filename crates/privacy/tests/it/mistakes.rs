//! Verdicts that were once wrong.

use hedgerow_data::TextTable;
use hedgerow_privacy::verify::{Evidence, Measure, Verdict, verify};
use hedgerow_privacy::{Requirement, Sensitive};

use crate::{strings, table};

fn look(
    text: &TextTable,
    quasi: &[&str],
    sensitive: &[&str],
    site: Option<&str>,
    line: &str,
) -> Result<Verdict, String> {
    let (quasi, sensitive) = (strings(quasi), strings(sensitive));
    let evidence = Evidence::of_table(text, &quasi, &sensitive, site).unwrap();
    let demand =
        Requirement::of_line(line, &evidence.scope()).map_err(|error| error.to_string())?;
    Ok(verify(&evidence, Some(&demand)))
}

#[test]
fn different_texts_that_spell_one_number_are_different_values() {
    let text = table("q,icd\n1,0250\n1,0250\n2,250\n2,250");
    assert_eq!(
        look(&text, &["q"], &["icd"], None, "k = 2, t = 0")
            .unwrap()
            .holds,
        Some(false)
    );
    let text = table("q,s\n1,12345678901234567890\n1,12345678901234567891");
    assert_eq!(
        look(&text, &["q"], &["s"], None, "l = 2").unwrap().holds,
        Some(true)
    );
}

#[test]
fn m_privacy_minds_site_diversity_of_every_kind() {
    let text = table("q,s,site\n1,x,A\n1,y,B\n1,x,A");
    for kind in ["class", "taxonomy"] {
        for attributes in ["", ", attributes = [\"q\"]"] {
            let line = format!(
                "site_diversity = {{ at_least = 2, kind = \"{kind}\"{attributes} }}, m = 1"
            );
            let verdict = look(&text, &["q"], &["s"], Some("site"), &line).unwrap();
            assert_eq!(verdict.holds, Some(false), "{line}");
            assert_eq!(
                verdict.models.site_diversity.unwrap().holds,
                Some(true),
                "{line}"
            );
            assert_eq!(
                verdict.models.m.unwrap().achieved,
                Measure::Whole(0),
                "{line}"
            );
        }
    }
    let three = table("q,s,site\n1,x,A\n1,y,B\n1,x,C");
    let line = "site_diversity = { at_least = 2, kind = \"taxonomy\" }, m = 1";
    assert_eq!(
        look(&three, &["q"], &["s"], Some("site"), line)
            .unwrap()
            .holds,
        Some(true)
    );
}

#[test]
fn no_attributes_are_no_demand() {
    let text = table("q,s,site\n1,x,A\n1,y,A\n2,x,B\n2,y,B");
    let refusal = look(
        &text,
        &["q"],
        &["s"],
        Some("site"),
        "site_diversity = { at_least = 2, attributes = [] }",
    );
    assert!(
        refusal
            .unwrap_err()
            .contains("`require.site_diversity.attributes` is empty")
    );
}

#[test]
fn a_distance_must_fit_its_attribute() {
    let text = table("q,s\n1,x\n1,y");
    let refusal = |distance: &str| {
        let line = format!("t = {{ at_most = 0.5, distance = \"{distance}\" }}");
        look(&text, &["q"], &["s"], None, &line).unwrap_err()
    };
    assert!(refusal("hierarchical").contains("`s` has no taxonomy"));
    assert!(refusal("ordered").contains("`s` has no order"));
}

#[test]
fn a_value_is_supported_by_sites_with_records_below_it() {
    let text = table("loc,s,site\n*,a,A\n*,b,A\nx,a,B\nx,b,C");
    let line = "site_diversity = { at_least = 2, kind = \"taxonomy\" }";
    let sites = look(&text, &["loc"], &["s"], Some("site"), line)
        .unwrap()
        .models
        .site_diversity
        .unwrap();
    assert_eq!(
        (sites.achieved, sites.holds),
        (Measure::Whole(2), Some(true))
    );
}

#[test]
fn a_class_fails_if_any_sensitive_attribute_does() {
    let text = table("q,a,b\n1,x,u\n1,x,v\n2,x,u\n2,y,u");
    let l = look(&text, &["q"], &["a", "b"], None, "l = 2")
        .unwrap()
        .models
        .l_distinct
        .unwrap();
    assert_eq!((l.failing_classes, l.failing_records), (Some(2), Some(4)));
    assert_eq!(l.attributes[0].holds, Some(false));
}

#[test]
fn a_product_has_as_many_values_as_its_pairs() {
    let text = table("q,a,b\n1,x,u\n1,y,v\n1,x,v\n1,y,u");
    let (quasi, sensitive) = (strings(&["q"]), strings(&["a", "b"]));
    let evidence = Evidence::of_table(&text, &quasi, &sensitive, None).unwrap();
    let demand = |l| {
        Requirement::of_line(
            &format!("l = {l}, sensitive = \"product\""),
            &evidence.scope(),
        )
    };
    assert!(
        demand(5)
            .unwrap_err()
            .to_string()
            .contains("`a × b` has only 4 values")
    );
    let demand = demand(4).unwrap();
    assert_eq!(
        verify(
            &evidence.clone().counting(Sensitive::Product),
            Some(&demand)
        )
        .holds,
        Some(true)
    );
}

#[test]
fn a_group_is_described_by_what_makes_it_one() {
    let text = table("a,b,s,site\n1,x,u,A\n1,y,v,A\n2,x,u,B\n2,x,v,A");
    let line = "site_diversity = { at_least = 2, attributes = [\"a\"] }";
    let sites = look(&text, &["a", "b"], &["s"], Some("site"), line)
        .unwrap()
        .models
        .site_diversity
        .unwrap();
    let worst = sites.worst_class.unwrap();
    assert_eq!(
        (worst.size, worst.quasi),
        (2, vec![("a".into(), "1".into())])
    );
}

#[test]
fn a_line_holds_one_requirement() {
    let text = table("q\n1");
    assert!(
        look(&text, &["q"], &[], None, "k = 1}\nx = {y = 1")
            .unwrap_err()
            .contains("unknown key `x`")
    );
}

/// A class without a value of the table shows that nobody in it has that value: ln(0 / p) is not
/// finite, so no delta is enough.
#[test]
fn a_value_that_a_class_lacks_is_disclosed_by_delta_disclosure() {
    let text = table("q,s\n1,x\n1,y\n2,x\n2,x");
    let verdict = look(&text, &["q"], &["s"], None, "delta = 5").unwrap();
    assert_eq!(verdict.holds, Some(false));
    let delta = verdict.models.delta.unwrap();
    assert_eq!(
        (delta.achieved, delta.failing_classes, delta.failing_records),
        (Measure::Real(f64::INFINITY), Some(1), Some(2))
    );
    assert_eq!(delta.worst_class.unwrap().first_record, 3);
    // Over the values that a class has, as others measure it: |ln((1/2) / (1/4))|, demanded of nobody.
    let present = verdict.models.delta_present.unwrap();
    assert_eq!(present.achieved, Measure::Real(2.0_f64.ln()));
    assert_eq!((present.required, present.holds), (None, None));
}

/// What a release does not show is neither 0 nor a failure.
#[test]
fn what_speaks_of_sites_is_not_shown_without_them() {
    let text = table("q,s\n1,x\n1,y\n2,x\n2,y");
    let line = "k = 2, site_diversity = 2, m = 1";
    let verdict = look(&text, &["q"], &["s"], None, line).unwrap();
    assert_eq!((verdict.holds, verdict.not_shown), (Some(false), true));
    let models = verdict.models;
    for (model, required) in [(models.site_diversity, 2), (models.m, 1)] {
        let model = model.unwrap();
        assert_eq!(model.required, Some(Measure::Whole(required)));
        assert_eq!((model.achieved, model.not_shown), (Measure::Unknown, true));
        assert_eq!(model.holds, Some(false));
    }
    // A class that fails is shown to fail, whatever else is not shown.
    let verdict = look(&text, &["q"], &["s"], None, "k = 3, m = 1").unwrap();
    assert_eq!((verdict.holds, verdict.not_shown), (Some(false), false));
}

/// A column that nobody gave a role may name everybody: that the others are anonymous shows nothing.
#[test]
fn a_column_without_a_role_leaves_the_verdict_open() {
    let text = table("q,s,note\n1,x,a\n1,y,b\n2,x,c\n2,y,d");
    let (quasi, sensitive) = (strings(&["q"]), strings(&["s"]));
    let evidence = Evidence::of_table(&text, &quasi, &sensitive, None).unwrap();
    let demand = |k: u64| Requirement::of_line(&format!("k = {k}"), &evidence.scope()).unwrap();
    let verdict = verify(&evidence, Some(&demand(2)));
    assert_eq!((verdict.holds, verdict.not_shown), (Some(false), true));
    assert_eq!(verdict.unexplained, ["note"]);
    // Whether something is demanded or not.
    let verdict = verify(&evidence, None);
    assert_eq!((verdict.holds, verdict.not_shown), (Some(false), true));
    // What fails is not open.
    let verdict = verify(&evidence, Some(&demand(3)));
    assert_eq!((verdict.holds, verdict.not_shown), (Some(false), false));
    let ignoring = evidence.clone().ignoring(&strings(&["note"]));
    let verdict = verify(&ignoring, Some(&demand(2)));
    assert_eq!((verdict.holds, verdict.not_shown), (Some(true), false));
}

/// `none` read as if there were no gain.
#[test]
fn what_is_without_bound_says_why() {
    // Of 40 values y is one in 20, and half of the first class.
    let mut text = String::from("q,s\n1,y\n1,x\n2,y\n");
    text.push_str(&"2,x\n".repeat(37));
    let text = table(&text);
    let line = "beta = { at_most = 9, kind = \"enhanced\" }";
    let beta = look(&text, &["q"], &["s"], None, line).unwrap();
    let beta = beta.models.beta_enhanced.unwrap();
    assert_eq!(beta.achieved.to_string(), "without bound");
    assert_eq!(
        beta.unbounded,
        Some("no beta would do: a value gains more than -ln p")
    );
}
