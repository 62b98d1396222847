//! Names of environment variables. Values are anything but NUL.

/// Whether `name` is `[A-Za-z_][A-Za-z0-9_]*` as a whole.
pub fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names() {
        for name in ["A", "_", "a1_B", "PATH"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "1A", "A-B", "A B", "A=B", "A\n", "É", "A;rm"] {
            assert!(!is_name(name), "{name:?}");
        }
    }
}
