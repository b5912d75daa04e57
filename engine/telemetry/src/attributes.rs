//! Reads what the variables define about the program that exports: its name, and the attributes that are sent with
//! everything.

const ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";
const SERVICE: &str = "OTEL_SERVICE_NAME";

/// The attributes from the variables, decoded, in their order; the variable of the service name wins. The crates of
/// OpenTelemetry read the same variables, but do not decode them.
pub(crate) fn named(
    variable: &dyn Fn(&str) -> Option<String>,
    warnings: &mut Vec<String>,
) -> Vec<(String, String)> {
    let written = variable(ATTRIBUTES).unwrap_or_default();
    let mut named = Vec::new();
    for (index, entry) in written.split_terminator(',').enumerate() {
        match attribute(entry) {
            Some(attribute) => named.push(attribute),
            None if entry.trim().is_empty() => {}
            None => warnings.push(format!(
                "attribute {} of {ATTRIBUTES} is not a valid `name=value`, and is not sent",
                index + 1
            )),
        }
    }
    named.extend(variable(SERVICE).map(|name| ("service.name".to_owned(), name)));
    named
}

fn attribute(entry: &str) -> Option<(String, String)> {
    let (name, value) = entry.split_once('=')?;
    let name = decoded(name.trim()).filter(|name| !name.is_empty())?;
    Some((name, decoded(value.trim())?))
}

/// A text without its percent-encoding, if the result is UTF-8. A `%` without two digits is kept.
fn decoded(written: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = after.first_chunk().filter(|_| *first == b'%').and_then(byte);
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok()
}

/// The byte that two hexadecimal digits encode.
fn byte(digits: &[u8; 2]) -> Option<u8> {
    let [high, low] = digits.map(|digit| char::from(digit).to_digit(16));
    u8::try_from(high? * 16 + low?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named_by(attributes: &str, service: Option<&str>) -> (Vec<(String, String)>, Vec<String>) {
        let variable = |name: &str| match name {
            ATTRIBUTES => Some(attributes.to_owned()),
            _ => service.map(str::to_owned),
        };
        let mut warnings = Vec::new();
        (named(&variable, &mut warnings), warnings)
    }

    #[test]
    fn attributes_are_decoded() {
        let (named, warnings) =
            named_by(" x = a%20b,a%2Cb=%3d%C3%A9,base64=SGk==,odd=100%,odder=%+1%zz%,", None);
        let expected = [
            ("x", "a b"),
            ("a,b", "=é"),
            ("base64", "SGk=="),
            ("odd", "100%"),
            ("odder", "%+1%zz%"),
        ];
        let owned = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!((named, warnings), (owned.to_vec(), Vec::new()));
    }

    #[test]
    fn one_that_cannot_be_read_is_said_by_its_place() {
        for wrong in ["k3y", "=k3y", "x=%ffk3y"] {
            let (named, warnings) = named_by(&format!("a=1,{wrong},b=2"), None);
            assert_eq!(named.len(), 2, "{wrong}");
            let said =
                format!("attribute 2 of {ATTRIBUTES} is not a valid `name=value`, and is not sent");
            assert_eq!(warnings, [said], "{wrong}");
        }
    }

    #[test]
    fn the_variable_of_the_name_has_the_last_word() {
        let (named, _) = named_by("service.name=a", Some("b%20"));
        let [_, (name, value)] = &named[..] else { panic!("{named:?}") };
        assert_eq!((name.as_str(), value.as_str()), ("service.name", "b%20"));
    }
}
