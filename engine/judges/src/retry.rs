//! Decides which attempts are repeated, and after how long. Does not wait itself.

use std::time::{Duration, SystemTime};

use reqwest::{StatusCode, header::HeaderMap};

use crate::failure::Remedy;

/// The longest wait before the second attempt; it doubles with each attempt.
const FIRST_DELAY: Duration = Duration::from_millis(500);

/// The longest wait between attempts if the server does not state a time.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// The longest wait that a server can ask for.
const MAX_STATED: Duration = Duration::from_secs(60);

/// The codes of refusals with status 429 against which waiting does not help: OpenAI's, if the account is empty.
const LASTING: [&str; 2] = ["insufficient_quota", "billing_hard_limit_reached"];

/// How long to wait after this many failed attempts, at least 1: a random time up to a bound that doubles (full
/// jitter), but no less than the server states.
pub(crate) fn delay(failures: u32, no_sooner: Duration) -> Duration {
    doubled(failures).mul_f64(fastrand::f64()).max(jittered(no_sooner))
}

/// How long all calls wait if a server has asked them this many times in a row, at least 1: a time that doubles, but no
/// less than the server states.
pub(crate) fn delay_of_all(times: u32, no_sooner: Duration) -> Duration {
    jittered(doubled(times).max(no_sooner))
}

/// The longest wait after this many attempts.
fn doubled(times: u32) -> Duration {
    FIRST_DELAY.saturating_mul(1 << times.saturating_sub(1).min(16)).min(MAX_DELAY)
}

/// This time plus up to a tenth of it, so that not all calls continue at once.
pub(crate) fn jittered(time: Duration) -> Duration {
    time + time.mul_f64(fastrand::f64() / 10.0)
}

/// What may help after an answer with this status and, if it has one, this code.
pub(crate) fn remedy(status: StatusCode, code: Option<&str>, headers: &HeaderMap) -> Remedy {
    let is_passing = matches!(status.as_u16(), 408 | 409 | 429) || status.is_server_error();
    if !is_passing || code.is_some_and(|code| LASTING.contains(&code)) {
        return Remedy::Nothing;
    }
    let stated = stated(headers, SystemTime::now());
    let slows_all =
        status == StatusCode::TOO_MANY_REQUESTS || (status.is_server_error() && stated.is_some());
    Remedy::Again { no_sooner: stated.unwrap_or_default(), slows_all }
}

/// How long the server asks to wait, at most [`MAX_STATED`]: in milliseconds as OpenAI does, in seconds, or until a
/// date.
fn stated(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |text: &str| text.parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0);
    let bounded = |seconds: f64| Duration::from_secs_f64(seconds.min(MAX_STATED.as_secs_f64()));
    if let Some(milliseconds) = header("retry-after-ms").and_then(number) {
        return Some(bounded(milliseconds / 1000.0));
    }
    let text = header("retry-after")?;
    if let Some(seconds) = number(text) {
        return Some(bounded(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default().min(MAX_STATED))
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())])
    }

    fn after(name: &'static str, value: &str) -> Option<u64> {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
        stated(&headers(name, value), now).map(|it| it.as_millis() as u64)
    }

    #[test]
    fn a_server_states_its_time_in_seconds_milliseconds_or_as_a_date() {
        assert_eq!(after("retry-after", "2"), Some(2000));
        assert_eq!(after("retry-after", "0.5"), Some(500));
        assert_eq!(after("retry-after-ms", "20"), Some(20));
        assert_eq!(after("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT"), Some(3000));
        assert_eq!(after("retry-after", "Sun, 06 Nov 1994 08:49:30 GMT"), Some(0));
    }

    #[test]
    fn no_server_makes_a_call_wait_for_longer_than_a_minute_or_for_no_time_at_all() {
        for long in ["3600", "1e300", "Sat, 06 Nov 2094 08:49:37 GMT"] {
            assert_eq!(after("retry-after", long), Some(60_000), "{long}");
        }
        for wrong in ["-1", "soon", "NaN", "inf", ""] {
            assert_eq!(after("retry-after", wrong), None, "{wrong}");
        }
    }

    #[test]
    fn statuses_that_pass_are_tried_again_and_others_are_not() {
        let none = HeaderMap::new();
        for status in [400, 401, 403, 404, 405, 413, 422] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(remedy(status, None, &none), Remedy::Nothing, "{status}");
        }
        for (status, slows_all) in
            [(408, false), (409, false), (429, true), (500, false), (529, false)]
        {
            let status = StatusCode::from_u16(status).unwrap();
            let again = Remedy::Again { no_sooner: Duration::ZERO, slows_all };
            assert_eq!(remedy(status, None, &none), again, "{status}");
        }
        let wait = headers("retry-after", "1");
        let again = Remedy::Again { no_sooner: Duration::from_secs(1), slows_all: true };
        assert_eq!(remedy(StatusCode::SERVICE_UNAVAILABLE, None, &wait), again);
        let empty = Some("insufficient_quota");
        assert_eq!(remedy(StatusCode::TOO_MANY_REQUESTS, empty, &none), Remedy::Nothing);
    }

    #[test]
    fn delays_double_up_to_a_bound_and_are_never_shorter_than_stated() {
        for failures in [1, 2, 3, 10, u32::MAX] {
            for _ in 0..100 {
                let most = FIRST_DELAY.saturating_mul(1 << (failures - 1).min(16)).min(MAX_DELAY);
                assert!(delay(failures, Duration::ZERO) <= most);
                let stated = Duration::from_secs(2);
                assert!(delay(failures, stated) >= stated);
                // All calls wait for the whole time, without jitter.
                assert!(delay_of_all(failures, Duration::ZERO) >= most);
                assert!(delay_of_all(failures, stated) >= most.max(stated));
            }
        }
        assert!(delay_of_all(u32::MAX, MAX_STATED) <= MAX_STATED.mul_f64(1.1));
    }
}
