//! One path, thin edges: who may import what.

use std::path::Path;

/// Every line of the crate that holds `word`, as `file: line`.
fn lines_with(word: &str, allowed: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let shown = path.display().to_string();
            let is_source = path.extension().is_some_and(|extension| extension == "rs");
            if !is_source || allowed.iter().any(|part| shown.contains(part)) {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source");
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            found.extend(
                code.filter(|line| line.contains(word))
                    .map(|line| format!("{shown}: {line}")),
            );
        }
    }
    found
}

#[test]
fn only_the_binding_knows_node() {
    assert_eq!(lines_with("napi", &["/src/binding/"]), Vec::<String>::new());
    assert!(!lines_with("napi", &[]).is_empty());
}

#[test]
fn only_the_client_and_the_local_runtime_know_aws() {
    assert_eq!(
        lines_with("aws_", &["/src/client/", "/src/local/"]),
        Vec::<String>::new()
    );
    assert!(!lines_with("aws_", &[]).is_empty());
}

#[test]
fn the_pure_folders_do_no_io() {
    for word in [
        "std::fs",
        "std::net",
        "tokio",
        "Instant",
        "SystemTime",
        "std::process",
    ] {
        let allowed = ["/src/binding/", "/src/client/", "/src/exec/", "/src/local/"];
        assert_eq!(lines_with(word, &allowed), Vec::<String>::new());
    }
}
