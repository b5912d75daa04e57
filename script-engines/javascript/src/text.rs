//! Converts texts of the interpreter, which may contain half a surrogate pair, to Rust texts, which have U+FFFD in its
//! place.

use std::slice;

use rquickjs::{Ctx, Exception, Function, Result, String as JsString, Value};

/// The length of half a surrogate pair as the interpreter writes it, in bytes; U+FFFD has the same length.
const HALF_BYTES: usize = "\u{fffd}".len();
/// The length of an escape in JSON such as `\ud83d`, in bytes.
const ESCAPE_BYTES: usize = 6;

/// Converts a text.
pub(crate) fn of(text: JsString<'_>) -> Result<String> {
    let text = text.to_cstring()?;
    // SAFETY: the pointer is valid for this many bytes, which live as long as `text`.
    #[expect(unsafe_code, reason = "the bytes may be no UTF-8, which `as_str` takes for granted")]
    let bytes = unsafe { slice::from_raw_parts(text.as_ptr().cast::<u8>(), text.len()) };
    Ok(match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => whole(bytes.to_vec()),
    })
}

/// A value as JSON; `None` if it is a function, a symbol or undefined.
pub(crate) fn json<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Option<String>> {
    let Some(json) = ctx.json_stringify(value)? else { return Ok(None) };
    Ok(Some(without_halves(of(json)?)))
}

/// A value as JSON, if JSON can express it: a number that is not finite is an error, because JSON would have `null` in
/// its place.
pub(crate) fn exact_json<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Option<String>> {
    let written = json(ctx, value.clone())?;
    // Most values have none, and a function that sees every value costs fuel.
    if written.as_ref().is_some_and(|json| json.contains("null")) {
        let finite = Function::new(ctx.clone(), must_be_finite)?;
        ctx.json_stringify_replacer(value, finite)?;
    }
    Ok(written)
}

fn must_be_finite<'js>(ctx: Ctx<'js>, _key: Value<'js>, value: Value<'js>) -> Result<Value<'js>> {
    match value.as_number().filter(|number| !number.is_finite()) {
        Some(number) => {
            let name = if number.is_nan() { "NaN" } else { "an infinite number" };
            Err(Exception::throw_type(&ctx, &format!("it has {name}, which JSON cannot say")))
        }
        None => Ok(value),
    }
}

/// JSON in which no escape is half a surrogate pair.
fn without_halves(json: String) -> String {
    let mut whole = String::new();
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = json.get(from..).and_then(|rest| rest.find('\\')).map(|at| from + at) {
        let rest = json.as_bytes().get(at..).unwrap_or_default();
        let next = rest.get(ESCAPE_BYTES..).unwrap_or_default();
        from = match (half(rest), half(next)) {
            (Some(Half::First), Some(Half::Second)) => at + 2 * ESCAPE_BYTES,
            (Some(_), _) => {
                whole.push_str(json.get(copied..at).unwrap_or_default());
                whole.push(char::REPLACEMENT_CHARACTER);
                copied = at + ESCAPE_BYTES;
                copied
            }
            // The escaped character may be a backslash.
            (None, _) => at + 2,
        };
    }
    if copied == 0 {
        return json;
    }
    whole.push_str(json.get(copied..).unwrap_or_default());
    whole
}

/// Half a surrogate pair.
enum Half {
    First,
    Second,
}

/// The half whose escape the JSON begins with.
fn half(json: &[u8]) -> Option<Half> {
    match json {
        [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..] => {
            Some(Half::First)
        }
        [b'\\', b'u', b'd' | b'D', b'c'..=b'f' | b'C'..=b'F', ..] => Some(Half::Second),
        _ => None,
    }
}

/// The UTF-8 text of bytes in which halves are encoded as if they were characters.
fn whole(mut bytes: Vec<u8>) -> String {
    for at in 0..bytes.len() {
        if let Some(half @ [0xed, 0xa0..=0xbf, _]) = bytes.get_mut(at..at + HALF_BYTES) {
            half.copy_from_slice("\u{fffd}".as_bytes());
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
