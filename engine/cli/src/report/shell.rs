//! Quotes arguments for commands that a user can copy. It runs no commands, and knows no options.

use std::ffi::OsStr;

use scorebox::terminal::characters;

/// Quotes an argument for a shell, in printable characters only.
pub(crate) fn shell_word(argument: impl AsRef<OsStr>) -> String {
    let argument = argument.as_ref();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    match argument.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(plain) => text.to_owned(),
        Some(text) if characters(text).all(|(_, is_seen)| is_seen) => {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
        _ => escaped(argument),
    }
}

/// In quotes with escapes, as in bash, zsh and ksh.
fn escaped(argument: &OsStr) -> String {
    let mut word = "$'".to_owned();
    for chunk in argument.as_encoded_bytes().utf8_chunks() {
        for (letter, is_seen) in characters(chunk.valid()) {
            match letter {
                '\'' | '\\' => word.extend(['\\', letter]),
                _ if is_seen => word.push(letter),
                _ => push_bytes(&mut word, letter.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        push_bytes(&mut word, chunk.invalid());
    }
    word.push('\'');
    word
}

fn push_bytes(word: &mut String, bytes: &[u8]) {
    word.extend(bytes.iter().map(|byte| format!("\\x{byte:02x}")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_typed() {
        assert_eq!(shell_word("a-b_c.d/e=1"), "a-b_c.d/e=1");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(shell_word("Käse"), "'Käse'");
    }

    #[test]
    fn what_cannot_be_shown_is_escaped() {
        assert_eq!(shell_word("y\u{1b}[31m it's.db"), r"$'y\x1b[31m it\'s.db'");
        assert_eq!(shell_word("\u{202e}\\"), r"$'\xe2\x80\xae\\'");
        assert_eq!(shell_word("z\u{200b}b.db"), r"$'z\xe2\x80\x8bb.db'");
    }

    #[test]
    #[cfg(unix)]
    fn a_name_that_is_not_utf_8_is_named() {
        use std::os::unix::ffi::OsStrExt as _;
        assert_eq!(shell_word(OsStr::from_bytes(b"db\xff.db")), r"$'db\xff.db'");
    }
}
