//! Points in time, as formats write them: dates with times, and numbers in some unit since 1970. Where they are in a
//! trace is known elsewhere.

use serde_json::Value;

/// A point in time, in nanoseconds since 1970. Milliseconds as doubles would lose the order of events that are close
/// together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Time(pub i64);

/// The unit of a number.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit {
    Nanoseconds,
    Milliseconds,
    /// Seconds, milliseconds, microseconds or nanoseconds, whichever gives a date of our time.
    BySize,
}

impl Unit {
    /// Converts a number of this unit to nanoseconds.
    fn nanoseconds(self, number: f64) -> i64 {
        match (self, number.abs()) {
            (Self::Nanoseconds, _) => 1,
            (Self::Milliseconds, _) => 1_000_000,
            (_, 1e17..) => 1,
            (_, 1e14..) => 1_000,
            (_, 1e11..) => 1_000_000,
            _ => 1_000_000_000,
        }
    }
}

impl Time {
    /// Reads a date and time as text, or a number of this unit, which may also be text.
    #[inline(never)]
    pub(super) fn read(value: Option<&Value>, unit: Unit) -> Option<Self> {
        let value = value?;
        let text = value.as_str();
        if let Some(whole) = value.as_i64().or_else(|| text?.parse().ok()) {
            return Some(Self(whole.saturating_mul(unit.nanoseconds(whole as f64))));
        }
        match value.as_f64().or_else(|| text?.parse().ok()) {
            Some(number) if !number.is_finite() => None,
            Some(number) => Some(Self((number * unit.nanoseconds(number) as f64).round() as i64)),
            None => date(text?),
        }
    }

    /// The time in milliseconds since 1970.
    pub(super) fn ms(self) -> f64 {
        const A_MILLISECOND: i64 = 1_000_000;
        (self.0 / A_MILLISECOND) as f64 + (self.0 % A_MILLISECOND) as f64 / A_MILLISECOND as f64
    }

    /// The milliseconds until another point in time; `None` if that is earlier.
    pub(super) fn ms_until(self, end: Self) -> Option<f64> {
        (end >= self).then(|| Self(end.0.saturating_sub(self.0)).ms())
    }
}

/// The time under a key that does not name a unit, in milliseconds since 1970.
#[inline(never)]
pub(super) fn time_ms(value: Option<&Value>) -> Option<f64> {
    Time::read(value, Unit::BySize).map(Time::ms)
}

/// `2025-10-16T14:30:00.250Z`, with `+02:00` in place of `Z`, or neither.
fn date(text: &str) -> Option<Time> {
    let field = |range: std::ops::Range<usize>| text.get(range)?.parse::<u32>().ok().map(f64::from);
    let (year, month, day) = (field(0..4)?, field(5..7)?, field(8..10)?);
    let (hour, minute) = (field(11..13)?, field(14..16)?);
    let rest = text.get(17..)?;
    let zone = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (second, zone) = rest.split_at(zone);
    let offset = match (zone.get(..1), zone.get(1..3), zone.get(zone.len().saturating_sub(2)..)) {
        (Some(sign @ ("+" | "-")), Some(hours), Some(minutes)) => {
            let minutes = hours.parse::<f64>().ok()? * 60.0 + minutes.parse::<f64>().ok()?;
            if sign == "+" { minutes } else { -minutes }
        }
        _ => 0.0,
    };
    // Days since 1970 in the Gregorian calendar; years are counted from March, so that leap days come last.
    let (year, month) = if month > 2.0 { (year, month - 3.0) } else { (year - 1.0, month + 9.0) };
    let leap_days = (year / 4.0).floor() - (year / 100.0).floor() + (year / 400.0).floor();
    let days =
        365.0 * year + leap_days + ((153.0 * month + 2.0) / 5.0).floor() + day - 1.0 - 719_468.0;
    let minutes = (days * 24.0 + hour) * 60.0 + minute - offset;
    let second = (second.parse::<f64>().ok()? * 1e9).round() as i64;
    Some(Time((minutes as i64).saturating_mul(60_000_000_000).saturating_add(second)))
}
