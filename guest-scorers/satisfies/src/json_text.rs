//! Reads JSON and numbers in a text. jaq's `fromjson` has no limit for the depth of nesting.

use jaq_core::{ValR, ValT as _};
use jaq_json::read;
use jaq_std::ValT as _;
use scorebox_sdk::excerpt;

use crate::value::{Error, Value};

/// How deeply JSON in a text may be nested, as in the case itself, because jaq's reader recurses.
const DEPTH: usize = 127;

/// The JSON values in a text, up to the first text that is not JSON.
pub(crate) fn from_json(input: &Value) -> Vec<ValR<Value>> {
    let Some(text) = input.as_utf8_bytes() else {
        return vec![Err(Error::typ(input.clone(), "string"))];
    };
    let fail = |why: &dyn std::fmt::Display| {
        let input = input.to_string();
        Error::str(format_args!("cannot parse {} as JSON: {why}", excerpt(&input, 80)))
    };
    if depth(text) > DEPTH {
        return vec![Err(fail(&format_args!("it nests more than {DEPTH} deep")))];
    }
    let mut values = Vec::new();
    for value in read::parse_many(text) {
        let is_wrong = value.is_err();
        values.push(value.map(Value).map_err(|error| fail(&error)));
        // The reader would continue inside the part that it could not read, where brackets mean something else.
        if is_wrong {
            break;
        }
    }
    values
}

/// The depth of brackets outside strings and comments; jaq's reader accepts comments.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'#' => {
                bytes.find(|byte| **byte == b'\n');
            }
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'"' => break,
                        b'\\' => {
                            bytes.next();
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// The number that a text contains. It is not NaN, which would be less than every number.
pub(crate) fn to_number(input: &Value) -> ValR<Value> {
    if input.kind() == "number" {
        return Ok(input.clone());
    }
    let text = input.as_utf8_bytes().and_then(|text| std::str::from_utf8(text).ok());
    let digits = text.filter(|text| text.bytes().all(|byte| b"0123456789+-.eE".contains(&byte)));
    let number = digits.and_then(|text| Some((text, text.parse::<f64>().ok()?)));
    match number {
        // An integer of any length is exact.
        Some((text, _)) if text.bytes().all(|byte| byte.is_ascii_digit()) => Value::from_num(text),
        Some((_, number)) => Ok(Value::from(number)),
        None => {
            let (kind, input) = (input.kind(), input.to_string());
            let input = excerpt(&input, 80);
            Err(Error::str(format_args!("{kind} ({input}) cannot be parsed as a number")))
        }
    }
}
