//! Commands that a user can type again.

/// An argument as a shell reads it back.
pub(crate) fn shell_word(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    match !argument.is_empty() && argument.chars().all(plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_typed() {
        assert_eq!(shell_word("a-b_c.d/e=1"), "a-b_c.d/e=1");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("it's $HOME"), r"'it'\''s $HOME'");
    }
}
