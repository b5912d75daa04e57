//! Reads how many items a collector rejected although it answers with success: `partial_success` of OTLP's answers,
//! which the exporters do not return. This never fails: an answer that cannot be read rejects nothing.

use std::iter;

/// The number of rejected items in an answer to an export of logs or of metrics: both have the same fields.
pub(crate) fn rejected(answer: &[u8]) -> u64 {
    let partial = fields(answer).find_map(|field| match field {
        (1, Value::Bytes(partial)) => Some(partial),
        _ => None,
    });
    let rejected = partial.and_then(|partial| {
        fields(partial).find_map(|field| match field {
            (1, Value::Number(rejected)) => Some(rejected),
            _ => None,
        })
    });
    // The number is signed in the protocol.
    rejected.filter(|it| i64::try_from(*it).is_ok()).unwrap_or(0)
}

/// The value of a protobuf field, as far as it is needed.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed,
}

/// The fields of a message, by number, up to the first one that cannot be read.
fn fields(mut bytes: &[u8]) -> impl Iterator<Item = (u64, Value<'_>)> {
    iter::from_fn(move || {
        let key = varint(&mut bytes)?;
        let value = match key & 7 {
            0 => Value::Number(varint(&mut bytes)?),
            1 => take(&mut bytes, 8).map(|_| Value::Fixed)?,
            2 => {
                let length = varint(&mut bytes)?;
                Value::Bytes(take(&mut bytes, usize::try_from(length).ok()?)?)
            }
            5 => take(&mut bytes, 4).map(|_| Value::Fixed)?,
            _ => return None,
        };
        Some((key >> 3, value))
    })
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_rejected_is_found_whatever_is_beside_it() {
        assert_eq!(rejected(&[0x0a, 2, 0x08, 3]), 3);
        // This answer has a message before the number, which is 300, and unknown fields before both.
        assert_eq!(rejected(&[0x15, 0, 0, 0, 0, 0x0a, 6, 0x12, 1, b'x', 0x08, 0xac, 2]), 300);
        assert_eq!(rejected(&[0x19, 0, 0, 0, 0, 0, 0, 0, 0, 0x0a, 2, 0x08, 1]), 1);
    }

    #[test]
    fn an_answer_that_cannot_be_read_rejects_nothing() {
        let minus_one = [[0x0a, 11, 0x08].as_slice(), &[0xff; 9], &[1]].concat();
        for answer in [
            b"".as_slice(),
            b"\x0a\x00",
            b"\x0a\x05\x12\x03all",
            b"\x0a\x7f\x08\x01",
            b"\x0a\x02\x08\xff",
            &[0xff; 20],
            b"{\"partialSuccess\":{}}",
            &minus_one,
        ] {
            assert_eq!(rejected(answer), 0, "{answer:?}");
        }
    }
}
