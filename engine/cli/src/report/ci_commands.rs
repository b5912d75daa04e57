//! Makes texts safe for the log of a CI runner, which executes some lines as commands: to mark a file, to hide a text
//! in the rest of the log, to stop reading commands. Outside of such logs it changes nothing.

use std::{borrow::Cow, sync::LazyLock};

/// Whether this process writes to the log of a runner that reads commands: GitHub Actions or Azure Pipelines.
static IS_READ: LazyLock<bool> = LazyLock::new(|| {
    ["GITHUB_ACTIONS", "TF_BUILD"].iter().any(|name| std::env::var_os(name).is_some())
});

/// The beginnings of commands that a runner reads anywhere in a line: the older form of GitHub's, and Azure's.
const ANYWHERE: [&str; 2] = ["##[", "##vso["];

/// Escapes the text, so that such a runner sees no command in it: `\u{3a}:error::…`, `#\u{23}[error]…`.
pub(super) fn neutralize_ci_commands(text: Cow<'_, str>) -> Cow<'_, str> {
    if *IS_READ { without_commands(text) } else { text }
}

fn without_commands(text: Cow<'_, str>) -> Cow<'_, str> {
    let begins = |line: &str| line.trim_start().starts_with("::");
    if !text.lines().any(begins) && !ANYWHERE.iter().any(|mark| text.contains(mark)) {
        return text;
    }
    let lines = text.split_inclusive('\n').map(|line| match begins(line) {
        true => Cow::Owned(line.replacen("::", "\\u{3a}:", 1)),
        false => Cow::Borrowed(line),
    });
    let mut shown: String = lines.collect();
    for mark in ANYWHERE {
        shown = shown.replace(mark, &mark.replacen('#', "\\u{23}", 1));
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_text_is_a_command() {
        for (text, shown) in [
            ("fine, std::fs and a # b", "fine, std::fs and a # b"),
            ("x\n  ::error::boom\n", "x\n  \\u{3a}:error::boom\n"),
            ("::add-mask::a", "\\u{3a}:add-mask::a"),
            ("a ##[error]b", "a \\u{23}#[error]b"),
            (
                "##vso[task.complete result=Succeeded]",
                "\\u{23}#vso[task.complete result=Succeeded]",
            ),
        ] {
            assert_eq!(without_commands(text.into()), shown);
        }
    }
}
