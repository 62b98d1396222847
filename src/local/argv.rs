//! Command text → words, as the service does it without a shell (pure).
//!
//! White space separates. `'…'` is taken verbatim. In `"…"` only `\"` and `\\` are escapes and
//! nothing is expanded. Everything else, `|`, `&&`, `;`, `$`, `*` and the backslash included,
//! is an ordinary character.

/// Why a command has no words to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SplitError {
    /// Nothing but white space.
    Empty,
    /// A quote without its end.
    UnterminatedQuote,
}

/// Splits `command`. With `join_quotes`, pieces that touch form one word, as in a shell;
/// without, a quoted piece is always a word of its own. Which of the two the service does is not
/// known, so a client must come through both.
pub(super) fn split(command: &str, join_quotes: bool) -> Result<Vec<String>, SplitError> {
    let mut words = Vec::new();
    // `None` between words: `''` is a word too, an empty one.
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                if !join_quotes {
                    words.extend(word.take());
                }
                let target = word.get_or_insert_default();
                if c == '\'' {
                    single(&mut chars, target)
                } else {
                    double(&mut chars, target)
                }
                .ok_or(SplitError::UnterminatedQuote)?;
                if !join_quotes {
                    words.extend(word.take());
                }
            }
            c if c.is_ascii_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if words.is_empty() {
        Err(SplitError::Empty)
    } else {
        Ok(words)
    }
}

fn single(chars: &mut std::str::Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match chars.next()? {
            '\'' => return Some(()),
            c => word.push(c),
        }
    }
}

fn double(chars: &mut std::str::Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match chars.next()? {
            '"' => return Some(()),
            '\\' => match chars.next()? {
                c @ ('"' | '\\') => word.push(c),
                c => word.extend(['\\', c]),
            },
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn joined(command: &str) -> Vec<String> {
        split(command, true).unwrap()
    }

    #[test]
    fn white_space_separates_and_operators_are_words() {
        assert_eq!(joined(" a\t b\n c "), ["a", "b", "c"]);
        assert_eq!(joined("echo a; echo b"), ["echo", "a;", "echo", "b"]);
        assert_eq!(
            joined("a|b && $HOME *.rs > out"),
            ["a|b", "&&", "$HOME", "*.rs", ">", "out"]
        );
        assert_eq!(joined(r"a\ b"), [r"a\", "b"]);
    }

    #[test]
    fn quotes_protect_and_only_two_escapes_exist() {
        assert_eq!(
            joined(r#"sh -c 'a "b" \ $c'"#),
            ["sh", "-c", r#"a "b" \ $c"#]
        );
        assert_eq!(
            joined(r#"x "a \" \\ \n $HOME `id`""#),
            ["x", r#"a " \ \n $HOME `id`"#]
        );
        assert_eq!(joined("x '' \"\""), ["x", "", ""]);
    }

    #[test]
    fn touching_pieces_join_or_do_not() {
        let command = r#"echo 'it'"'"'s' a'b'"#;
        assert_eq!(joined(command), ["echo", "it's", "ab"]);
        assert_eq!(
            split(command, false).unwrap(),
            ["echo", "it", "'", "s", "a", "b"]
        );
    }

    #[test]
    fn what_has_no_words_is_an_error() {
        assert_eq!(split(" \n", true), Err(SplitError::Empty));
        for command in ["'a", "\"a", "\"a\\", "a 'b' '"] {
            assert_eq!(
                split(command, true),
                Err(SplitError::UnterminatedQuote),
                "{command}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_word_survives_quoting(words in prop::collection::vec("[^\0]{0,12}", 1..6)) {
            let quote = |word: &String| {
                format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
            };
            let command = words.iter().map(quote).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(split(&command, true).unwrap(), words.clone());
            prop_assert_eq!(split(&command, false).unwrap(), words);
        }

        #[test]
        fn nothing_but_quotes_escapes_and_space_is_lost(command in "\\PC{0,40}") {
            if let Ok(words) = split(&command, true) {
                let kept: usize = words.iter().map(|word| word.chars().count()).sum();
                let special = command.chars().filter(|c| " '\"\\".contains(*c)).count();
                prop_assert!(kept + special >= command.chars().count());
                prop_assert!(kept <= command.chars().count());
            }
        }
    }
}
