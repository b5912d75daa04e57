//! Tests the standard variables of proxies and certificates. These belong to the whole process, so each test asks in a
//! child process.

use std::{env, process::Stdio};

use scorebox::judge::AskErrorKind;
use scorebox_judges::{ConnectError, Key};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::{
    asking::{KEY, LONG, asked, question, says, settings},
    server::{Answer, SIGNED, Server},
};

/// The variable with the address to ask; only in the child.
const ADDRESS: &str = "SCOREBOX_JUDGES_TEST_ADDRESS";

/// The variable with the address whose certificate is wrong; only in the child.
const WRONG_ADDRESS: &str = "SCOREBOX_JUDGES_TEST_WRONG_ADDRESS";

/// The address that cannot be reached; only in the child.
const VAIN_ADDRESS: &str = "SCOREBOX_JUDGES_TEST_VAIN_ADDRESS";

/// The address whose proxy does not speak TLS; in the child only.
const PLAIN_ADDRESS: &str = "SCOREBOX_JUDGES_TEST_PLAIN_ADDRESS";

const CONCEALED_ADDRESS: &str = "SCOREBOX_JUDGES_TEST_CONCEALED_ADDRESS";

/// The address for which no judge can be made; only in the child.
const REFUSED_ADDRESS: &str = "SCOREBOX_JUDGES_TEST_REFUSED_ADDRESS";

/// Variables that a machine may have set, and that the tests must not use.
const USUAL: [&str; 11] = [
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    "REQUEST_METHOD",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
];

/// Does nothing unless the tests below start it.
#[tokio::test]
async fn asks_in_a_child() {
    let Ok(address) = env::var(ADDRESS) else { return };
    let judge = scorebox_judges::connect(&settings(address), None).unwrap();
    assert_eq!(asked(&*judge, &question("Is it?")).await.unwrap(), "Yes.");
}

/// Does nothing unless the tests below start it.
#[tokio::test]
async fn names_the_proxy_in_a_child() {
    let Ok(address) = env::var(VAIN_ADDRESS) else { return };
    let mut settings = settings(address);
    settings.retries = 0;
    let judge = scorebox_judges::connect(&settings, None).unwrap();
    let message = judge.ask(&question("Is it?"), LONG).await.unwrap_err().message;
    let expected = "cannot connect to http://judge.test/v1 through the proxy 127.0.0.1:1: ";
    assert!(message.starts_with(expected) && !message.contains("secret"), "{message}");
}

/// Does nothing unless the tests below start it.
#[tokio::test]
async fn names_the_proxy_without_tls_in_a_child() {
    let Ok(address) = env::var(PLAIN_ADDRESS) else { return };
    let mut settings = settings(address);
    settings.retries = 0;
    let judge = scorebox_judges::connect(&settings, None).unwrap();
    let message = judge.ask(&question("Is it?"), LONG).await.unwrap_err().message;
    let remedy =
        "which answered without TLS: the address of a proxy without TLS begins with `http://`";
    let expected = "http://judge.test/v1 cannot be asked through the proxy 127.0.0.1:";
    assert!(message.starts_with(expected) && message.ends_with(remedy), "{message}");
}

/// Does nothing unless the tests below start it.
#[tokio::test]
async fn conceals_the_proxy_in_a_child() {
    let Ok(address) = env::var(CONCEALED_ADDRESS) else { return };
    let mut settings = settings(address);
    settings.retries = 0;
    let judge = scorebox_judges::connect(&settings, None).unwrap();
    let message = judge.ask(&question("Is it?"), LONG).await.unwrap_err().message;
    assert!(message.ends_with(": Basic [key] is [key], or [key]"), "{message}");
}

/// Does nothing unless the tests below start it.
#[test]
fn refuses_the_proxy_in_a_child() {
    let Ok(address) = env::var(REFUSED_ADDRESS) else { return };
    let error = scorebox_judges::connect(&settings(address), None).unwrap_err();
    assert_eq!(error, ConnectError::Proxy("HTTP_PROXY"));
}

/// Does nothing unless the tests below start it.
#[tokio::test]
async fn trusts_nobody_in_a_child() {
    let Ok(address) = env::var(WRONG_ADDRESS) else { return };
    let mut settings = settings(address);
    settings.retries = 4;
    let judge = scorebox_judges::connect(&settings, Some(Key::new(KEY))).unwrap();
    let error = judge.ask(&question("Is it?"), LONG).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (AskErrorKind::Unavailable, 1));
    assert!(error.message.contains("is not trusted"), "{}", error.message);
}

/// Asks this address in a process with a variable.
async fn ask_in_a_child(address: &str, name: &str, value: &str) {
    assert!(in_a_child("asks", (ADDRESS, address), (name, value)).await);
}

/// Whether the test with this name succeeds in a process with these variables.
async fn in_a_child(test: &str, address: (&str, &str), variable: (&str, &str)) -> bool {
    let mut child = tokio::process::Command::new(env::current_exe().unwrap());
    child.args(["--exact", &format!("variables::{test}_in_a_child")]).stdout(Stdio::null());
    for usual in USUAL {
        child.env_remove(usual);
    }
    child.envs([address, variable]).status().await.unwrap().success()
}

#[tokio::test]
async fn a_server_elsewhere_is_asked_through_the_proxy_and_one_on_this_machine_is_not() {
    let proxy = Server::start(|_| Some(says("Yes."))).await;
    ask_in_a_child("http://judge.test/v1", "HTTP_PROXY", &proxy.url("")).await;
    let targets: Vec<String> = proxy.asked().into_iter().map(|asked| asked.target).collect();
    assert_eq!(targets, ["http://judge.test/v1/chat/completions"]);
    let server = Server::start(|_| Some(says("Yes."))).await;
    ask_in_a_child(&server.url("/v1"), "HTTP_PROXY", &proxy.url("")).await;
    assert_eq!((proxy.count(), server.count()), (1, 1));
}

#[tokio::test]
async fn a_proxy_without_tls_whose_address_says_otherwise_is_what_the_error_is_about() {
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}", proxy.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = proxy.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            let _ =
                stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await;
        }
    });
    let there = (PLAIN_ADDRESS, "http://judge.test/v1");
    assert!(in_a_child("names_the_proxy_without_tls", there, ("HTTP_PROXY", &address)).await);
}

#[tokio::test]
async fn an_error_names_the_proxy_without_its_password() {
    let variable = ("HTTP_PROXY", "http://user:secret@127.0.0.1:1");
    let address = (VAIN_ADDRESS, "http://judge.test/v1");
    assert!(in_a_child("names_the_proxy", address, variable).await);
}

#[tokio::test]
async fn what_a_proxy_repeats_has_no_password_in_it() {
    let said = "Basic dXNlcjphLXNlY3JldC13b3Jk is user:a-secret-word, or a-secret-word";
    let proxy = Server::start(move |_| Some(Answer::status(407, said))).await;
    let named = proxy.url("").replace("http://", "http://user:a-secret-word@");
    let address = (CONCEALED_ADDRESS, "http://judge.test/v1");
    assert!(in_a_child("conceals_the_proxy", address, ("HTTP_PROXY", &named)).await);
    assert_eq!(proxy.count(), 1);
}

#[tokio::test]
async fn a_variable_that_names_no_proxy_is_refused_where_it_counts() {
    let variable = ("HTTP_PROXY", "not a url :::");
    let address = (REFUSED_ADDRESS, "http://judge.test/v1");
    assert!(in_a_child("refuses_the_proxy", address, variable).await);
    let server = Server::start(|_| Some(says("Yes."))).await;
    ask_in_a_child(&server.url("/v1"), variable.0, variable.1).await;
}

/// Only on systems where the variable is read.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_server_whose_authority_is_named_is_asked_over_tls() {
    let server = Server::start_encrypted(SIGNED, |_| Some(says("Yes."))).await;
    let address = format!("https://localhost:{}/v1", server.address.port());
    let authority = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/certificates/authority.pem");
    ask_in_a_child(&address, "SSL_CERT_FILE", authority).await;
    assert_eq!(server.count(), 1);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_certificate_of_another_name_or_another_authority_ends_it_before_the_key_is_sent() {
    let server = Server::start_encrypted(SIGNED, |_| Some(says("Yes."))).await;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/certificates");
    for (host, authority) in [("127.0.0.1", "authority.pem"), ("localhost", "other-authority.pem")]
    {
        let address = format!("https://{host}:{}/v1", server.address.port());
        let variable = ("SSL_CERT_FILE", &*format!("{folder}/{authority}"));
        assert!(in_a_child("trusts_nobody", (WRONG_ADDRESS, &address), variable).await);
    }
    assert_eq!(server.count(), 0);
}
