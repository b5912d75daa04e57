//! Decides whether a busy server is asked again, and after how long. Does not wait itself.

use std::time::{Duration, SystemTime};

use reqwest::{
    Method, StatusCode,
    header::{HeaderMap, RETRY_AFTER},
};

/// How many times a server is asked in total.
pub(crate) const MAX_TIMES: u32 = 4;
/// The wait before the second request, unless the server states a time; it doubles with each request.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait that a server can ask for. A server that states a longer one is not asked again.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// What may help after an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Another request after this time.
    Wait(Duration),
    /// A later request. The server may state after how long.
    Later(Option<Duration>),
    /// Nothing: the answer is final.
    None,
}

/// What may help after an answer with this status, when the server was asked this many times, at least once.
///
/// A request that changes something is repeated only if the server reports that it did nothing: with 502 and 504 it may
/// have done something.
pub(crate) fn patience(
    status: StatusCode,
    method: &Method,
    headers: &HeaderMap,
    times: u32,
    now: SystemTime,
) -> Patience {
    let did_nothing = match status.as_u16() {
        429 | 503 => true,
        502 | 504 => matches!(*method, Method::GET | Method::HEAD),
        _ => return Patience::None,
    };
    let stated = stated(headers, now);
    let wait = stated.unwrap_or(FIRST_WAIT.saturating_mul(1 << times.saturating_sub(1).min(16)));
    match did_nothing && times < MAX_TIMES && wait <= MAX_WAIT {
        true => Patience::Wait(wait),
        false => Patience::Later(stated),
    }
}

/// How long the server asks to wait: in seconds, or until a date.
fn stated(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    /// At 08:49:37 of the date in RFC 9110.
    fn after(status: u16, method: &Method, retry_after: &str, times: u32) -> Patience {
        let value = retry_after.parse().unwrap();
        let headers = match retry_after {
            "" => HeaderMap::new(),
            _ => HeaderMap::from_iter([(RETRY_AFTER, value)]),
        };
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
        patience(StatusCode::from_u16(status).unwrap(), method, &headers, times, now)
    }

    #[test]
    fn a_busy_server_is_asked_again_after_a_time_that_doubles_or_that_it_states() {
        let wait = |seconds| Patience::Wait(Duration::from_secs(seconds));
        for status in [429, 502, 503, 504] {
            let after = |retry_after, times| after(status, &Method::GET, retry_after, times);
            assert_eq!([1, 2, 3].map(|times| after("", times)), [wait(1), wait(2), wait(4)]);
            assert_eq!(after("", MAX_TIMES), Patience::Later(None));
            assert_eq!(after("0", 1), wait(0));
            assert_eq!(after("30", 2), wait(30));
            assert_eq!(after("Sun, 06 Nov 1994 08:49:40 GMT", 1), wait(3));
            assert_eq!(after("Sun, 06 Nov 1994 08:49:30 GMT", 1), wait(0));
            for nonsense in ["soon", "-1", "1e3", "NaN"] {
                assert_eq!(after(nonsense, 1), wait(1), "{nonsense}");
            }
        }
    }

    #[test]
    fn a_server_that_wants_more_than_half_a_minute_is_asked_later() {
        let later = |seconds| Patience::Later(Some(Duration::from_secs(seconds)));
        assert_eq!(after(429, &Method::GET, "31", 1), later(31));
        assert_eq!(after(503, &Method::GET, "18446744073709551615", 1), later(u64::MAX));
        assert_eq!(after(503, &Method::GET, "5", MAX_TIMES), later(5));
    }

    #[test]
    fn what_changes_something_is_sent_again_only_if_the_server_did_nothing() {
        let wait = Patience::Wait(FIRST_WAIT);
        for method in [Method::PUT, Method::POST] {
            assert_eq!(after(429, &method, "", 1), wait);
            assert_eq!(after(503, &method, "", 1), wait);
            assert_eq!(after(502, &method, "", 1), Patience::Later(None));
            assert_eq!(after(504, &method, "", 1), Patience::Later(None));
        }
        assert_eq!(after(502, &Method::HEAD, "", 1), wait);
    }

    #[test]
    fn other_statuses_are_what_the_server_has_to_say() {
        for status in [200, 307, 400, 401, 403, 404, 500, 501, 507] {
            assert_eq!(after(status, &Method::GET, "1", 1), Patience::None, "{status}");
        }
    }
}
