//! Provides what surrounds every page: its style sheet, its scripts, and the policies that allow nothing else.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use sha2::{Digest as _, Sha256};

/// The style sheet of pages and reports.
pub(crate) const STYLE: &str = include_str!("assets/style.css");
/// The script of a report.
pub(crate) const REPORT_SCRIPT: &str = include_str!("assets/report.js");

/// The policy of a page without scripts: its own style sheet, by its digest, and nothing else.
pub(crate) fn sheet_policy() -> String {
    format!("default-src 'none'; style-src {}; base-uri 'none'; form-action 'none'", digest(STYLE))
}

/// The policy of a report: its own style sheet and script, by their digests, and nothing else.
pub(crate) fn report_policy() -> String {
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        digest(STYLE),
        digest(REPORT_SCRIPT)
    )
}

fn digest(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use scorebox::terminal::markup_without_commands;

    use super::*;

    /// A style sheet and a script cannot contain character references, and the policy contains their digests.
    #[test]
    fn the_sheet_and_the_script_have_nothing_that_a_runner_of_ci_takes_for_a_command() {
        for text in [STYLE, REPORT_SCRIPT] {
            assert_eq!(markup_without_commands(text), text);
        }
    }
}
