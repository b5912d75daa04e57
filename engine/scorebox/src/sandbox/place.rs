//! Where a value is in a configuration or a schema, in the form that errors show: `rules[0].most`. It is formatted only
//! for an error, because strangers' keys may be long.

use std::fmt;

#[derive(Clone, Copy)]
pub(super) enum Place<'p> {
    Whole,
    Member(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

impl<'p> Place<'p> {
    pub(super) fn member(&'p self, key: &'p str) -> Place<'p> {
        Place::Member(self, key)
    }

    /// The top-level key of the place; `None` for the whole.
    pub(super) fn first(&self) -> Option<&str> {
        match self {
            Place::Whole => None,
            Place::Member(Place::Whole, key) => Some(key),
            Place::Member(of, _) | Place::Item(of, _) => of.first(),
        }
    }

    pub(super) fn item(&'p self, at: usize) -> Place<'p> {
        Place::Item(self, at)
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Member(Place::Whole, key) => f.write_str(key),
            Place::Member(of, key) => write!(f, "{of}.{key}"),
            Place::Item(of, at) => write!(f, "{of}[{at}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_way_to_it() {
        let rules = Place::Whole.member("rules");
        let rule = rules.item(0);
        assert_eq!(rule.member("most").to_string(), "rules[0].most");
        assert_eq!(Place::Whole.to_string(), "");
        assert_eq!((rule.member("most").first(), Place::Whole.first()), (Some("rules"), None));
    }
}
