//! Real tables, where they are.

use hedgerow_data::Taxonomy;
use hedgerow_testing::real_tables;

use crate::adult::{NAMES, adult};

#[test]
fn adult_with_its_hierarchies() {
    let (Some((study, table)), Some(folder)) = (adult("salary-class"), real_tables()) else {
        return;
    };
    let folder = folder.join("adult9");
    assert_eq!(table.rows(), 30_162);
    assert_eq!(table.coded_bytes(), 9 * 30_162);
    for name in NAMES {
        let file = format!("adult_hierarchy_{name}.csv");
        let tree = Taxonomy::open(&folder.join(&file), &file).unwrap();
        assert_eq!(Taxonomy::from_rows(&tree.to_rows(), "again").unwrap(), tree);
    }
    let age = &study.schema.attributes()[1].domain;
    let first = table.codes(1).unwrap().get(0);
    assert_eq!(age.label(first), "39");
}
