//! Which directory a command runs in.

/// The directory as the caller gave it: the command's own before the sandbox's; empty
/// counts as not given.
pub fn given<'a>(cwd: Option<&'a str>, working_directory: Option<&'a str>) -> Option<&'a str> {
    let named = |directory: &&str| !directory.is_empty();
    cwd.filter(named).or(working_directory.filter(named))
}

/// The directory that is meant. A relative one lies under the sandbox's, or under where
/// commands start; it always begins with `/` or `.`, so that neither a leading `-` nor
/// `CDPATH` changes its meaning. Nothing in it is expanded.
pub fn resolve(cwd: Option<&str>, working_directory: Option<&str>) -> Option<String> {
    let directory = given(cwd, working_directory)?;
    if directory.starts_with('/') {
        return Some(directory.to_owned());
    }
    Some(
        match working_directory.filter(|under| under.starts_with('/')) {
            Some(under) => format!("{}/{directory}", under.trim_end_matches('/')),
            None => format!("./{directory}"),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn directories() {
        for (cwd, working_directory, meant) in [
            (None, None, None),
            (Some(""), Some(""), None),
            (None, Some("/srv/app"), Some("/srv/app")),
            (Some("/tmp"), Some("/srv/app"), Some("/tmp")),
            (Some(""), Some("/srv/app"), Some("/srv/app")),
            (Some("lib"), Some("/srv/app"), Some("/srv/app/lib")),
            (Some("lib"), Some("/"), Some("/lib")),
            (Some("lib"), None, Some("./lib")),
            (Some("-"), None, Some("./-")),
            (Some("~"), None, Some("./~")),
            (Some("-x"), Some("/srv"), Some("/srv/-x")),
        ] {
            assert_eq!(resolve(cwd, working_directory).as_deref(), meant);
        }
    }
}
