//! Asks one of Docker's credential helpers for the login of a server, within a time limit. Reads no configuration, and
//! stores nothing.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use serde::Deserialize;
use zeroize::Zeroizing;

/// The longest time for an answer: a user may have to unlock the password store.
const MAX_TIME: Duration = Duration::from_secs(20);
/// The most bytes of an answer.
const MAX_BYTES: u64 = 64 << 10;
/// How often to check whether a helper that has answered has ended.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
/// What all helpers print, and fail with, if they have no login.
const NOT_FOUND: &str = "credentials not found";
/// The user name of a login that is an identity token.
const TOKEN: &str = "<token>";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    username: String,
    secret: String,
}

/// A user and a password.
pub(crate) type Login = (String, Zeroizing<String>);

/// The error for a login that is not supported.
pub(crate) const AN_IDENTITY_TOKEN: &str =
    "an identity token, which scorebox does not use; log in with a user name";

/// The login that the program `docker-credential-NAME` has for the server; `None` if it has none.
///
/// # Errors
/// What is wrong with the program. Its output may contain a secret, so no error contains it.
pub(crate) fn login_of(name: &str, server: &str) -> Result<Option<Login>, String> {
    login_by(&format!("docker-credential-{name}"), server, MAX_TIME)
}

fn login_by(program: &str, server: &str, time: Duration) -> Result<Option<Login>, String> {
    let begun = Instant::now();
    let mut child = started(program)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read the name may still answer.
        let _ = stdin.write_all(server.as_bytes());
    }
    let (sender, answers) = mpsc::channel();
    let stdout = child.stdout.take();
    // This thread is not waited for, because a process that the program started may keep the pipe open.
    thread::spawn(move || {
        let mut answer = Zeroizing::new(Vec::new());
        let read = stdout.map(|stdout| stdout.take(MAX_BYTES).read_to_end(&mut answer));
        let _ = sender.send(read.is_some_and(|read| read.is_ok()).then_some(answer));
    });
    let answer = answers.recv_timeout(time).ok();
    let success = answer.as_ref().and_then(|_| ended(&mut child, begun + time));
    let (Some(answer), Some(success)) = (answer, success) else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("`{program}` did not answer within {} seconds", time.as_secs()));
    };
    let answer = answer.ok_or_else(|| format!("what `{program}` says cannot be read"))?;
    if !success {
        return match String::from_utf8_lossy(&answer).contains(NOT_FOUND) {
            true => Ok(None),
            false => Err(format!("`{program}` failed")),
        };
    }
    let answer: Answer = serde_json::from_slice(&answer)
        .map_err(|_| format!("what `{program}` says is not a login"))?;
    match answer.username == TOKEN {
        true => Err(format!("`{program}` knows {}", AN_IDENTITY_TOKEN)),
        false => Ok(Some((answer.username, answer.secret.into()))),
    }
}

fn started(program: &str) -> Result<Child, String> {
    let mut command = Command::new(program);
    command.arg("get").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("`{program}` is not installed"),
        _ => format!("`{program}` cannot be started: {error}"),
    })
}

/// Whether the program succeeded; `None` if it did not end in time.
fn ended(child: &mut Child, latest: Instant) -> Option<bool> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if Instant::now() < latest => thread::sleep(BETWEEN_LOOKS),
            Ok(None) | Err(_) => return None,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    /// The result of a helper that is this script.
    fn asked(script: &str, time: Duration) -> Result<Option<Login>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("helper");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let program = path.display().to_string();
        login_by(&program, "a.test", time).map_err(|error| error.replace(&program, "HELPER"))
    }

    fn refused(script: &str) -> String {
        asked(script, MAX_TIME).unwrap_err()
    }

    #[test]
    fn a_helper_is_asked_for_the_login_of_a_server() {
        let script = r#"[ "$1" = get ] && [ "$(cat)" = a.test ] && echo '{"Username": "Aladdin", "Secret": "open sesame"}'"#;
        let (user, secret) = asked(script, MAX_TIME).unwrap().unwrap();
        assert_eq!((user.as_str(), secret.as_str()), ("Aladdin", "open sesame"));
        let none = asked("echo credentials not found in native keychain; exit 1", MAX_TIME);
        assert!(none.unwrap().is_none());
    }

    #[test]
    fn a_helper_that_is_broken_is_named_without_what_it_says() {
        assert_eq!(refused("echo my secret; exit 3"), "`HELPER` failed");
        assert_eq!(refused("echo my secret"), "what `HELPER` says is not a login");
        assert_eq!(refused("yes my secret"), "`HELPER` failed", "it is not read to the end");
        let token = refused(r#"echo '{"Username": "<token>", "Secret": "my secret"}'"#);
        assert!(token.starts_with("`HELPER` knows an identity token"), "{token}");
        let missing = login_by("no/such/helper", "a.test", MAX_TIME).unwrap_err();
        assert_eq!(missing, "`no/such/helper` is not installed");
    }

    #[test]
    fn a_helper_that_never_answers_or_never_ends_is_left_alone() {
        // The child of the second script keeps the pipe open.
        for script in ["exec sleep 5", "sleep 5 & exit 1", "exec >&-; exec sleep 5"] {
            let late = asked(script, Duration::from_millis(300)).unwrap_err();
            assert_eq!(late, "`HELPER` did not answer within 0 seconds", "{script}");
        }
    }
}
