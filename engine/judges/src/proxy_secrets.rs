//! Lists what no message may contain about the proxy of the environment: its password, in each form in which an answer
//! may repeat it. `scorebox-connections` finds out which proxy that is.

use crate::key::Key;

/// The user name and password in Base64, as they are sent, and decoded, and the password alone: a proxy may repeat what
/// it was sent.
pub(crate) fn proxy_secrets(shown: &str) -> Vec<Key> {
    let both = decoded(shown);
    let password = both.split_once(':').map(|(_, password)| password.to_owned());
    // An empty secret would be found in every text.
    let all = [Some(shown.to_owned()), Some(both), password].into_iter().flatten();
    all.filter(|secret| !secret.is_empty()).map(Key::new).collect()
}

/// Decodes Base64; bytes that are not UTF-8 are replaced.
fn decoded(base64: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held) = (0_u32, 0);
    let mut bytes = Vec::new();
    for letter in base64.bytes() {
        // Padding ends the text.
        let Some(value) = (0_u32..).zip(LETTERS).find(|(_, it)| **it == letter) else { break };
        bits = (bits << 6) | value.0;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held).to_le_bytes()[0]);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_proxy_is_shown_is_a_secret_as_it_is_sent_and_as_it_is_written() {
        // `user:a password`
        let secrets = proxy_secrets("dXNlcjphIHBhc3N3b3Jk");
        let conceal = |text: &str| {
            secrets.iter().fold(text.to_owned(), |text, it| it.conceal(&text).into_owned())
        };
        assert_eq!(conceal("Basic dXNlcjphIHBhc3N3b3Jk"), "Basic [key]");
        assert_eq!(conceal("user:a password, a password"), "[key], [key]");
        assert_eq!(decoded("dXNlcjo="), "user:");
    }
}
