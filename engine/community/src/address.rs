//! Parses the address of a scorer in a registry: `REGISTRY/NAME:TAG`. Connects to nothing.

use std::{fmt, str::FromStr};

/// The longest name that registries accept.
const MAX_NAME_BYTES: usize = 255;
/// The longest tag of the OCI Distribution Specification.
const MAX_TAG_BYTES: usize = 128;

/// A scorer in a registry, such as `registry.example.com/team/grade:1.2.0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    registry: String,
    name: String,
    tag: String,
}

/// A text is not a valid address of a scorer in a registry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{written}` is not the address of a scorer in a registry: {reason}")]
#[non_exhaustive]
pub struct NotAnAddress {
    /// The text.
    pub written: String,
    /// What is wrong with the text.
    pub reason: &'static str,
}

impl Address {
    /// The address in a text, in its canonical form; the text itself if it is not a valid address.
    pub fn canonical(written: &str) -> String {
        written.parse::<Address>().map_or_else(|_| written.to_owned(), |it| it.to_string())
    }

    /// The registry's host in lower case, with its port if one is named.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// The name in the registry, such as `team/grade`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tag, such as `1.2.0`.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// The same scorer under another tag.
    ///
    /// # Errors
    /// If the tag is not valid.
    pub fn with_tag(&self, tag: &str) -> Result<Address, NotAnAddress> {
        format!("{}/{}:{tag}", self.registry, self.name).parse()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}:{}", self.registry, self.name, self.tag)
    }
}

impl FromStr for Address {
    type Err = NotAnAddress;

    fn from_str(written: &str) -> Result<Address, NotAnAddress> {
        let wrong = |reason| NotAnAddress { written: written.to_owned(), reason };
        if written.contains("://") {
            return Err(wrong("it begins with the registry's host, without `https://`"));
        }
        if written.contains('@') {
            return Err(wrong("it ends in a tag; a digest, or a user name, has no place in it"));
        }
        let (registry, path) =
            written.split_once('/').ok_or(wrong("it must be `REGISTRY/NAME:TAG`"))?;
        if !is_host(registry) {
            return Err(wrong(
                "the registry must be a host name with a dot, `localhost`, or a host with its port",
            ));
        }
        let (name, tag) =
            path.split_once(':').ok_or(wrong("it needs a tag, such as `:1.2.0`, at its end"))?;
        if name.len() > MAX_NAME_BYTES || !name.split('/').all(is_part_of_a_name) {
            return Err(wrong(
                "a name has lower-case letters and digits, with `.`, `_` or `-` between them, in parts separated by `/`",
            ));
        }
        if !is_tag(tag) {
            return Err(wrong(
                "a tag has up to 128 letters, digits, `.`, `_` and `-`, and does not begin with `.` or `-`",
            ));
        }
        // Host names are case-insensitive.
        let (registry, name, tag) =
            (registry.to_ascii_lowercase(), name.to_owned(), tag.to_owned());
        Ok(Address { registry, name, tag })
    }
}

/// `registry.example.com`, `localhost`, `team:5000`, `[::1]:5000`.
fn is_host(written: &str) -> bool {
    let (host, port) = match written.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (written, None),
    };
    let has_port = match port.map(str::parse::<u16>) {
        None => false,
        Some(Ok(number)) if number > 0 => true,
        Some(_) => return false,
    };
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let is_label = |label: &str| {
        let characters = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        characters && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
    };
    let is_a_host = host.len() <= MAX_NAME_BYTES && host.split('.').all(is_label);
    is_a_host && (has_port || host == "localhost" || host.contains('.'))
}

/// Letters and digits, with one `.`, one or two `_`, or any number of `-` between them.
fn is_part_of_a_name(part: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = [part.bytes().next(), part.bytes().next_back()];
    let between = part.split(|character: char| is_inner(character as u8) && character.is_ascii());
    let separators = |text: &str| match text.as_bytes() {
        [] | b"." | b"_" | b"__" => true,
        other => other.iter().all(|byte| *byte == b'-'),
    };
    ends.into_iter().all(|end| end.is_some_and(is_inner)) && { between }.all(separators)
}

fn is_tag(tag: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let first = tag.bytes().next().is_some_and(is_word);
    let rest = tag.bytes().all(|byte| is_word(byte) || byte == b'.' || byte == b'-');
    first && rest && tag.len() <= MAX_TAG_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_written_as_it_is_read() {
        for written in [
            "registry.example.com/grade:1.2.0",
            "localhost/grade:latest",
            "localhost:5000/team/grade-of__answers.v2:1.2.0-rc_1",
            "team:5000/a/b/c--d:1",
            "127.0.0.1:5000/grade:1.2.0",
            "[::1]:5000/grade:1.2.0",
        ] {
            assert_eq!(written.parse::<Address>().unwrap().to_string(), written);
        }
        let address: Address = "team:5000/a/b:1.2.0".parse().unwrap();
        assert_eq!(
            (address.registry(), address.name(), address.tag()),
            ("team:5000", "a/b", "1.2.0")
        );
        assert_eq!(address.with_tag("1.3.0").unwrap().to_string(), "team:5000/a/b:1.3.0");
        assert!(address.with_tag("1/3").is_err());
    }

    #[test]
    fn the_name_of_a_host_is_the_same_in_any_case() {
        let written = "Registry.Example.com:5000/team/grade:RC-1";
        let canonical = "registry.example.com:5000/team/grade:RC-1";
        assert_eq!(written.parse::<Address>(), canonical.parse());
        assert_eq!(Address::canonical(written), canonical);
        assert_eq!(Address::canonical("Not an address"), "Not an address");
    }

    #[test]
    fn what_is_not_an_address_is_refused_with_the_reason() {
        let long_tag = format!("a.b/c:{}", "1".repeat(129));
        let long_name = format!("a.b/{}:1", "c".repeat(256));
        for (written, reason) in [
            ("", "must be `REGISTRY/NAME:TAG`"),
            ("grade:1.2.0", "must be `REGISTRY/NAME:TAG`"),
            ("https://a.b/c:1", "without `https://`"),
            ("user:secret@a.b/c:1", "has no place in it"),
            ("a.b/c@sha256:00", "has no place in it"),
            ("team/grade:1.2.0", "host name with a dot"),
            ("a.b:0/c:1", "host name with a dot"),
            ("a.b:70000/c:1", "host name with a dot"),
            ("a..b/c:1", "host name with a dot"),
            ("-a.b/c:1", "host name with a dot"),
            ("[::g]:1/c:1", "host name with a dot"),
            ("é.b/c:1", "host name with a dot"),
            ("a.b/c", "needs a tag"),
            ("a.b/Grade:1", "lower-case letters"),
            ("a.b//c:1", "lower-case letters"),
            ("a.b/../c:1", "lower-case letters"),
            ("a.b/c_:1", "lower-case letters"),
            ("a.b/c..d:1", "lower-case letters"),
            ("a.b/c___d:1", "lower-case letters"),
            ("a.b/é:1", "lower-case letters"),
            ("a.b/c d:1", "lower-case letters"),
            (&long_name, "lower-case letters"),
            ("a.b/c:", "a tag has"),
            ("a.b/c:-1", "a tag has"),
            ("a.b/c:1/2", "a tag has"),
            ("a.b/c:1+2", "a tag has"),
            ("a.b/c:1:2", "a tag has"),
            (&long_tag, "a tag has"),
        ] {
            let error = written.parse::<Address>().unwrap_err();
            assert!(error.reason.contains(reason), "{written}: {error}");
        }
    }
}
