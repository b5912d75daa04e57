//! Sizes and times as people write them: `64MiB`, `1.5 s`. It only reads them; front ends print them.

use std::time::Duration;

use crate::sandbox::Limits;

/// The text is not a valid quantity of that kind.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not {expected}", written.escape_debug())]
pub struct NotAQuantity {
    written: String,
    expected: &'static str,
}

/// Bytes: a number, alone or with `B`, `KiB`, `MiB`, `GiB` (1024) or `kB`, `MB`, `GB` (1000).
///
/// # Errors
/// If the text is not valid, or means less than 1 byte or at least 9 PB.
pub fn parse_bytes(written: &str) -> Result<u64, NotAQuantity> {
    let error = || NotAQuantity {
        written: written.to_owned(),
        expected: "a size such as 1048576, `64MiB` or `1GB`",
    };
    let (number, unit) = split(written);
    let number: f64 = number.parse().map_err(|_| error())?;
    let factor = match unit {
        "" | "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(error()),
    };
    let bytes = (number * factor).round();
    // Below 2^53, every whole number of bytes is exact; no limit here is that large.
    match bytes {
        9e15.. => {
            let expected = "a size here: the largest is just below 9 PB";
            Err(NotAQuantity { written: written.to_owned(), expected })
        }
        1.0.. => Ok(bytes as u64),
        _ => Err(error()),
    }
}

/// A memory limit: bytes as in [`parse_bytes`], at most the 4 GiB that a 32-bit memory can have.
///
/// # Errors
/// If the text is not a valid size, or the size is larger.
pub fn parse_memory(written: &str) -> Result<u64, NotAQuantity> {
    match parse_bytes(written)? {
        bytes @ ..=Limits::MAX_MEMORY_BYTES => Ok(bytes),
        _ => Err(NotAQuantity {
            written: written.to_owned(),
            expected: "a memory limit; the highest is `4GiB`",
        }),
    }
}

/// A time: a number with `ms`, `s`, `min` or `h`.
///
/// # Errors
/// If the text is not valid, or means less than a millisecond (the unit in which it is stored), or more than 30 days.
pub fn parse_duration(written: &str) -> Result<Duration, NotAQuantity> {
    const MAX_SECONDS: f64 = 30.0 * 24.0 * 3600.0;
    let error = || NotAQuantity {
        written: written.to_owned(),
        expected: "a time such as `500ms`, `5s` or `2min`",
    };
    let (number, unit) = split(written);
    let number: f64 = number.parse().map_err(|_| error())?;
    let factor = match unit {
        "ms" => 1e-3,
        "s" => 1.0,
        "min" | "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(error()),
    };
    let seconds = number * factor;
    if seconds > MAX_SECONDS {
        let expected = "a time here: the longest is `720h`";
        return Err(NotAQuantity { written: written.to_owned(), expected });
    }
    let time = Duration::try_from_secs_f64(seconds).map_err(|_| error())?;
    // Whole milliseconds are stored and verified.
    let time = Duration::from_millis((time.as_secs_f64() * 1e3).round() as u64);
    if time.is_zero() { Err(error()) } else { Ok(time) }
}

fn split(written: &str) -> (&str, &str) {
    let written = written.trim();
    let end = written.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(written.len());
    let (number, unit) = written.split_at(end);
    (number, unit.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_with_or_without_a_unit() {
        assert_eq!(parse_bytes("64MiB"), Ok(64 << 20));
        assert_eq!(parse_bytes("1.5 GiB"), Ok(3 << 29));
        assert_eq!(parse_bytes("1000"), Ok(1000));
        assert_eq!(parse_bytes("2kB"), Ok(2000));
        for bad in ["", "0", "-1", "MiB", "1XB", "1e3", "99999999GiB"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_need_a_unit() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("2 min"), Ok(Duration::from_secs(120)));
        for bad in ["", "5", "0s", "-1s", "1d", "1000h", "0.0000001ms"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
