//! The table of errors in the documentation is the one that errors are made from.
//!
//! `UPDATE_DOCS=1 cargo test --test error_table` writes it anew.

use mastra_agentcore::situation::table;
use std::path::Path;

const BEGIN: &str = "<!-- begin: the table of errors -->\n";
const END: &str = "<!-- end: the table of errors -->";

#[test]
fn the_documentation_has_the_table_of_errors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/errors.md");
    let page = std::fs::read_to_string(&path).expect("docs/errors.md");
    let (head, rest) = page.split_once(BEGIN).expect("the table's beginning");
    let (written, tail) = rest.split_once(END).expect("the table's end");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let page = format!("{head}{BEGIN}{}{END}{tail}", table());
        std::fs::write(&path, page).expect("docs/errors.md can be written");
        return;
    }
    assert_eq!(
        written,
        table(),
        "run UPDATE_DOCS=1 cargo test --test error_table"
    );
}
