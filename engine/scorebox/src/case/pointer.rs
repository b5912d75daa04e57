//! JSON Pointers (RFC 6901), followed through raw JSON text without building a tree. `mapping` decides which key a
//! pointer belongs to.

#[cfg(feature = "store")]
use super::{error::BadCaseReason, key::Key};
use super::{
    fault::Fault,
    members::{Stopped, each_member, element},
};

/// A parsed JSON Pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    text: String,
    tokens: Vec<String>,
}

impl Pointer {
    /// Parses `text`; the error describes what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Pointer, &'static str> {
        let tokens = match text.strip_prefix('/') {
            Some(rest) => rest.split('/').map(unescape).collect::<Result<_, _>>()?,
            None if text.is_empty() => Vec::new(),
            None => return Err("it does not start with `/`"),
        };
        Ok(Pointer { text: text.to_owned(), tokens })
    }

    /// The pointer as it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Its parts, with `~1` and `~0` replaced.
    pub(super) fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// The member of the line's object that the pointer points into; `None` for the whole line.
    pub(super) fn first(&self) -> Option<&str> {
        self.tokens.first().map(String::as_str)
    }

    /// The same pointer with another second token.
    pub(super) fn with_second(&self, token: &str) -> Pointer {
        let replaced = |(index, own): (usize, &String)| match index {
            1 => token.to_owned(),
            _ => own.clone(),
        };
        let tokens: Vec<String> = self.tokens.iter().enumerate().map(replaced).collect();
        let text = tokens.iter().map(|token| format!("/{}", escaped(token))).collect();
        Pointer { text, tokens }
    }

    /// Follows all but the first token from `value`, the value of the member [`first`](Self::first). The offset of a
    /// fault is relative to the start of `value`.
    pub(super) fn find_below_first<'t>(&self, value: &'t str) -> Result<Option<&'t str>, Fault> {
        Pointer::follow(value, self.tokens.iter().skip(1))
    }

    /// The value at the pointer in `value`; `None` if it does not exist.
    #[cfg(feature = "store")]
    pub(crate) fn find<'t>(&self, value: &'t str) -> Result<Option<&'t str>, BadCaseReason> {
        Pointer::follow(value.trim(), self.tokens.iter()).map_err(|fault| fault.reason)
    }

    /// The value at the pointer, if the pointer begins with a spelling of `key`; `value` is that key's value.
    #[cfg(feature = "store")]
    pub(crate) fn find_in<'t>(
        &self,
        key: Key,
        value: &'t str,
    ) -> Result<Option<&'t str>, BadCaseReason> {
        let is_meant = self.first().is_some_and(|first| key.spellings().contains(&first));
        match is_meant {
            true => self.find_below_first(value.trim()).map_err(|fault| fault.reason),
            false => Ok(None),
        }
    }

    fn follow<'t, 'p>(
        value: &'t str,
        tokens: impl Iterator<Item = &'p String>,
    ) -> Result<Option<&'t str>, Fault> {
        let mut found = value;
        for token in tokens {
            match step(found, token).map_err(|fault| fault.within(value, found))? {
                Some(next) => found = next,
                None => return Ok(None),
            }
        }
        Ok(Some(found))
    }
}

/// One token with `~1` and `~0` replaced.
fn unescape(token: &str) -> Result<String, &'static str> {
    let bad_tilde = token.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1']));
    if bad_tilde {
        return Err("a `~` is written `~0`, and a `/` inside a key `~1`");
    }
    Ok(token.replace("~1", "/").replace("~0", "~"))
}

/// A name escaped as a token of a pointer.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The value that `token` refers to in `value`; `None` if it does not exist. The offset of a fault is relative to the
/// start of `value`.
fn step<'t>(value: &'t str, token: &str) -> Result<Option<&'t str>, Fault> {
    match value.as_bytes().first() {
        Some(b'{') => member(value, token),
        Some(b'[') => Ok(array_index(token).and_then(|index| element(value, index))),
        _ => Ok(None),
    }
}

/// The value of the member `name` of the object `text`.
fn member<'t>(text: &'t str, name: &str) -> Result<Option<&'t str>, Fault> {
    let mut found = None;
    each_member(text, |key, value| match key == name {
        true if found.is_some() => Err(Fault::duplicate(text, value, name)),
        true => {
            found = Some(value);
            Ok(())
        }
        false => Ok(()),
    })
    .map_err(|stopped| match stopped {
        Stopped::Json(error) => Fault::json(text, &error),
        Stopped::Caller(fault) => fault,
    })?;
    Ok(found)
}

/// The index in `token` according to RFC 6901: digits without a leading zero.
pub(super) fn array_index(token: &str) -> Option<usize> {
    let canonical = token == "0" || !token.starts_with('0');
    let digits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
    if canonical && digits { token.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value at `pointer` in RFC 6901's own example, prefixed with one member.
    fn find(document: &str, pointer: &str) -> Option<String> {
        let rest = Pointer::parse(&format!("/doc{pointer}")).unwrap();
        rest.find_below_first(document).unwrap().map(str::to_owned)
    }

    #[test]
    fn the_examples_of_rfc_6901_are_found() {
        let document = r#"{ "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4,
            "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8 }"#;
        let pairs = [
            ("/foo", r#"["bar", "baz"]"#),
            ("/foo/0", "\"bar\""),
            ("/foo/1", "\"baz\""),
            ("/", "0"),
            ("/a~1b", "1"),
            ("/c%d", "2"),
            ("/e^f", "3"),
            ("/g|h", "4"),
            ("/i\\j", "5"),
            ("/k\"l", "6"),
            ("/ ", "7"),
            ("/m~0n", "8"),
        ];
        for (pointer, value) in pairs {
            assert_eq!(find(document, pointer).as_deref(), Some(value), "{pointer}");
        }
        assert_eq!(find(document, "").as_deref(), Some(document));
    }

    #[test]
    fn what_does_not_exist_is_not_found() {
        let document = r#"{"foo": ["bar"], "text": "x"}"#;
        for pointer in
            ["/bar", "/foo/1", "/foo/-", "/foo/00", "/foo/+0", "/foo/", "/text/0", "/foo/x"]
        {
            assert_eq!(find(document, pointer), None, "{pointer}");
        }
        assert_eq!(find(document, "/foo/99999999999999999999999999"), None);
    }

    #[test]
    fn tilde_one_zero_is_a_slash_and_tilde_zero_one_is_a_tilde_and_a_one() {
        assert_eq!(Pointer::parse("/~01").unwrap().first(), Some("~1"));
        assert_eq!(Pointer::parse("/~10").unwrap().first(), Some("/0"));
    }

    #[test]
    fn bad_pointers_are_refused() {
        let (slash, tilde) =
            ("it does not start with `/`", "a `~` is written `~0`, and a `/` inside a key `~1`");
        for (pointer, why) in
            [("a", slash), ("a/b", slash), ("/~", tilde), ("/~2", tilde), ("/a~/b", tilde)]
        {
            assert_eq!(Pointer::parse(pointer), Err(why), "{pointer}");
        }
    }
}
