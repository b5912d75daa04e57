//! What `format` asserts beyond the validator's own checks: hostname, email, duration, iri, iri-reference, uri-template
//! and regex are as strict as the official optional tests. The other formats are left to the validator.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::error::Error;

use boon::{Compiler, Format, SchemaIndex, Schemas};
use serde_json::{Value, json};

use super::ecma;

/// The name that replaces `"format": "regex"` in a schema: the validator has a check by that name, for Rust's syntax,
/// which cannot be replaced.
pub(super) const REGEX: &str = "regex of ECMA 262";

type Verdict = Result<(), Box<dyn Error>>;

/// The formats that this crate checks more strictly.
pub(super) const STRICT: [Format; 7] = [
    Format { name: "hostname", func: hostname },
    Format { name: "email", func: email },
    Format { name: "duration", func: duration },
    Format { name: "iri", func: iri },
    Format { name: "iri-reference", func: iri_reference },
    Format { name: "uri-template", func: uri_template },
    Format { name: REGEX, func: regex },
];

/// RFC 1123; a label in Punycode must also be valid by IDNA 2008.
fn hostname(value: &Value) -> Verdict {
    let Value::String(name) = value else { return Ok(()) };
    if name.ends_with('.') {
        return Err("ends with a dot".into());
    }
    by_validator("hostname", value)?;
    let is_punycode =
        |label: &str| label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"));
    match name.split('.').any(is_punycode) {
        true => by_validator("idn-hostname", &Value::String(name.to_ascii_lowercase())),
        false => Ok(()),
    }
}

fn email(value: &Value) -> Verdict {
    match value.as_str() {
        Some(address) if address.starts_with('@') => Err("nothing before the @".into()),
        Some(address) if address.ends_with('.') => Err("ends with a dot".into()),
        _ => by_validator("email", value),
    }
}

/// RFC 3339, appendix A: no unit is left out between two others.
fn duration(value: &Value) -> Verdict {
    by_validator("duration", value)?;
    let Value::String(text) = value else { return Ok(()) };
    let units = |part: &str| part.chars().filter(char::is_ascii_alphabetic).collect::<String>();
    let (date, time) = text.trim_start_matches('P').split_once('T').unwrap_or((&text[1..], ""));
    match "YMD".contains(&units(date)) && "HMS".contains(&units(time)) || date.ends_with('W') {
        true => Ok(()),
        false => Err("leaves a unit out".into()),
    }
}

fn regex(value: &Value) -> Verdict {
    let Value::String(pattern) = value else { return Ok(()) };
    ecma::check(pattern).map_err(Into::into)
}

/// RFC 3987: what is a URI once its non-ASCII characters are percent-encoded.
fn iri(value: &Value) -> Verdict {
    let Value::String(iri) = value else { return Ok(()) };
    by_validator("uri", &Value::String(encoded(iri)?))
}

fn iri_reference(value: &Value) -> Verdict {
    let Value::String(iri) = value else { return Ok(()) };
    by_validator("uri-reference", &Value::String(encoded(iri)?))
}

/// The IRI with a percent-encoded letter in place of each non-ASCII character that is allowed at its position. Which
/// letter it is does not matter.
fn encoded(iri: &str) -> Result<String, Box<dyn Error>> {
    let query = iri.find('?').map_or(iri.len(), |start| start + 1);
    let query = query..iri.find('#').unwrap_or(iri.len());
    let mut encoded = String::with_capacity(iri.len());
    for (place, c) in iri.char_indices() {
        match c {
            _ if c.is_ascii() => encoded.push(c),
            _ if is_ucschar(c) || is_private(c) && query.contains(&place) => {
                encoded.push_str("%C3")
            }
            _ => return Err("a character that must be encoded".into()),
        }
    }
    Ok(encoded)
}

/// RFC 3987, section 2.2: `ucschar`.
fn is_ucschar(c: char) -> bool {
    match u32::from(c) {
        0xa0..=0xd7ff | 0xf900..=0xfdcf | 0xfdf0..=0xffef => true,
        // Except the last two of each plane, which are not characters.
        code @ (0x1_0000..=0xd_ffff | 0xe_1000..=0xe_ffff) => code & 0xffff < 0xfffe,
        _ => false,
    }
}

/// RFC 3987, section 2.2: `iprivate`.
fn is_private(c: char) -> bool {
    match u32::from(c) {
        0xe000..=0xf8ff => true,
        code => code >= 0xf_0000 && code & 0xffff < 0xfffe,
    }
}

/// RFC 6570.
fn uri_template(value: &Value) -> Verdict {
    let Value::String(template) = value else { return Ok(()) };
    let mut rest = template.as_str();
    while let Some(open) = rest.find(['{', '}']) {
        literal(&rest[..open])?;
        let inside = rest[open..].strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let (expression, after) = inside.ok_or("a brace without its partner")?;
        let variables = expression.strip_prefix(['+', '#', '.', '/', ';', '?', '&']);
        variables.unwrap_or(expression).split(',').try_for_each(variable)?;
        rest = after;
    }
    literal(rest)
}

/// Text outside of braces.
fn literal(text: &str) -> Verdict {
    let refused = |c: char| {
        c.is_ascii_control() || ('\u{80}'..'\u{a0}').contains(&c) || " \"<>\\^`".contains(c)
    };
    if text.contains(refused) {
        return Err("a character that must be encoded".into());
    }
    match text.match_indices('%').all(|(place, _)| is_encoded(&text[place..])) {
        true => Ok(()),
        false => Err("a % without two hexadecimal digits".into()),
    }
}

/// A variable's name, with a `*` or the length of its prefix.
fn variable(text: &str) -> Verdict {
    let name = match text.split_once(':') {
        None => text.strip_suffix('*').unwrap_or(text),
        Some((name, length)) => {
            let counts = matches!(length.len(), 1..=4)
                && length.bytes().all(|byte| byte.is_ascii_digit())
                && !length.starts_with('0');
            match counts {
                true => name,
                false => return Err("a prefix length that is not 1 to 9999".into()),
            }
        }
    };
    let is_name = |part: &str| {
        let mut rest = part;
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '%' if is_encoded(rest) => 3,
                '_' => 1,
                first if first.is_ascii_alphanumeric() => 1,
                _ => return false,
            };
            rest = &rest[length..];
        }
        !part.is_empty()
    };
    match name.split('.').all(is_name) {
        true => Ok(()),
        false => Err("a variable without a valid name".into()),
    }
}

/// Whether a text begins with a percent-encoded byte.
fn is_encoded(text: &str) -> bool {
    let digits = text.as_bytes().get(1..3);
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// The validator's own check of a format.
fn by_validator(name: &'static str, value: &Value) -> Verdict {
    thread_local! {
        static CHECKS: RefCell<BTreeMap<&'static str, (Schemas, SchemaIndex)>> = RefCell::default();
    }
    CHECKS.with_borrow_mut(|checks| {
        let (schemas, root) = match checks.entry(name) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => free.insert(compile(name)?),
        };
        match schemas.validate(value, *root) {
            Ok(()) => Ok(()),
            Err(_) => Err("see its syntax".into()),
        }
    })
}

fn compile(name: &str) -> Result<(Schemas, SchemaIndex), Box<dyn Error>> {
    let address = format!("schema:///{name}.json");
    let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
    compiler.enable_format_assertions();
    compiler.add_resource(&address, json!({ "format": name }))?;
    let root = compiler.compile(&address, &mut schemas)?;
    Ok((schemas, root))
}

#[cfg(test)]
mod tests {
    use super::*;

    // The rows up to `#ƒräg\\mênt`: the official optional tests of `iri` and `iri-reference`.
    #[test]
    fn an_iri_is_a_uri_with_more_letters() {
        let rows = [
            ("http://ƒøø.ßår/?∂éœ=πîx#πîüx", true, true),
            ("http://ƒøø.com/blah_(wîkïpédiå)_blah#ßité-1", true, true),
            ("http://ƒøø.ßår/?q=Test%20URL-encoded%20stuff", true, true),
            ("http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com", true, true),
            ("http://[2001:0db8:85a3:0000:0000:8a2e:0370:7334]", true, true),
            ("http://2001:0db8:85a3:0000:0000:8a2e:0370:7334", false, false),
            ("/abc", false, true),
            ("\\\\WINDOWS\\filëßåré", false, false),
            ("âππ", false, true),
            ("//ƒøø.ßår/?∂éœ=πîx#πîüx", false, true),
            ("#ƒrägmênt", false, true),
            ("#ƒräg\\mênt", false, false),
            ("", false, true),
            ("/a b", false, false),
            ("[", false, false),
            ("{a}", false, false),
            ("http://a/%zz", false, false),
            ("http://a/%C3%A9", true, true),
            ("http://a/é%", false, false),
            ("http://[v1.a:b]/", true, true),
            ("http://[é]/", false, false),
            ("é:b", false, false),
            ("http://a/é\n", false, false),
            ("http://a/<é>", false, false),
            ("http://a/?\u{e000}", true, true),
            ("http://a/\u{e000}", false, false),
            ("http://a/?b#\u{e000}", false, false),
            ("http://a/\u{fffe}", false, false),
            ("http://a/\u{85}", false, false),
            ("http://a/𝄞", true, true),
        ];
        for (text, is_iri, is_reference) in rows {
            assert_eq!(iri(&json!(text)).is_ok(), is_iri, "iri: {text}");
            assert_eq!(iri_reference(&json!(text)).is_ok(), is_reference, "iri-reference: {text}");
        }
        assert!(iri(&json!(1)).is_ok() && iri_reference(&json!(null)).is_ok());
    }
}
