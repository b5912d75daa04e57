//! Compares captured texts with the expected ones. Matching is done elsewhere.

use std::borrow::Cow;

use scorebox_sdk::excerpt;

/// How captured texts are compared.
pub(crate) struct Judge {
    /// The group to compare, in place of all groups.
    pub(crate) group: Option<usize>,
    /// Whether all groups must be right; otherwise one is enough.
    pub(crate) match_all: bool,
    pub(crate) ignore_case: bool,
}

impl Judge {
    /// Whether the captured texts are right, and why.
    pub(crate) fn judge(&self, caught: &[Option<&str>], expected: &[String]) -> (bool, String) {
        let compared = match (self.group, caught) {
            (Some(group), _) => &caught[group..=group],
            (None, [whole]) => std::slice::from_ref(whole),
            (None, [_, groups @ ..]) => groups,
            (None, []) => &[],
        };
        let caught: Vec<&str> = compared.iter().flatten().copied().collect();
        let folded: Vec<_> = expected.iter().map(|text| self.fold(text)).collect();
        let is_right = |text: &&str| folded.contains(&self.fold(text));
        // An empty capture is never an answer.
        let is_something = |text: &&str| !text.is_empty();
        if self.match_all {
            let right = caught.iter().all(is_right) && caught.iter().any(is_something);
            let verb = if right { "all groups are right" } else { "not all groups are right" };
            let (caught, expected) = (quoted(caught), quoted(expected));
            return (right, format!("{verb}: caught {caught}, expected {expected}"));
        }
        if let Some(found) = caught.iter().find(|text| is_something(text) && is_right(text)) {
            return (true, format!("caught {}, as expected", quoted([found])));
        }
        let expected = quoted(expected);
        match caught.as_slice() {
            [] => (
                false,
                format!("the pattern matches, but no group is part of it; expected {expected}"),
            ),
            caught => (false, format!("caught {}, expected {expected}", quoted(caught))),
        }
    }

    fn fold<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.ignore_case { Cow::Owned(text.to_lowercase()) } else { Cow::Borrowed(text) }
    }
}

/// Quotes texts for a reason.
pub(crate) fn quoted<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<_> = texts.into_iter().map(|text| format!("\"{}\"", text.as_ref())).collect();
    excerpt(&texts.join(", "), 80).into_owned()
}
