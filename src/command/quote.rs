//! Strings → shell words.

use std::borrow::Cow;

/// Makes one shell word of `text`: as it is where it is made of `A-Za-z0-9._-/=:@` alone,
/// else in single quotes. As `@mastra/agentcore` quotes, to the letter.
pub fn quote(text: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/=:@".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
    }
}

/// Makes one shell word of `text`, in double quotes where it needs any: for text without
/// `'` that itself stands inside single quotes.
pub fn double_quote(text: &str) -> Cow<'_, str> {
    if let quoted @ Cow::Borrowed(_) = quote(text) {
        return quoted;
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        if matches!(character, '"' | '\\' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    Cow::Owned(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_stay_as_they_are() {
        for word in ["npm", "a.b_c-d/e=f:g@h", "X9"] {
            assert_eq!(quote(word), word);
            assert_eq!(double_quote(word), word);
        }
    }

    #[test]
    fn the_rest_is_quoted() {
        assert_eq!(quote(""), "''");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote("a b"), "'a b'");
        assert_eq!(quote("$HOME"), "'$HOME'");
        assert_eq!(quote("é"), "'é'");
        assert_eq!(quote("a+b"), "'a+b'");
        assert_eq!(double_quote(""), r#""""#);
        assert_eq!(double_quote(r#"a "$b" `c` \d"#), r#""a \"\$b\" \`c\` \\d""#);
    }
}
