//! Makes and checks signatures of components in minisign's format, which are published as annotations. Trusts no key: a
//! person must know who owns it.

use std::{collections::BTreeMap, fmt, io::Cursor, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use minisign::{PublicKey, SecretKey, SecretKeyBox, SignatureBox};
use zeroize::Zeroizing;

/// The annotation that contains the text of the signature.
pub(crate) const SIGNATURE: &str = "scorebox.signature";
/// The annotation that contains the public key.
pub(crate) const SIGNER: &str = "scorebox.signer";

/// The most bytes of a signature's text, or of a key, that are read.
const MAX_BYTES: usize = 1024;
/// The most bytes of the text of a signature.
pub(crate) const MAX_SIGNATURE_BYTES: usize = MAX_BYTES;

/// The size of a secret key.
const SECRET_KEY_BYTES: usize = 158;

/// The size of an Ed25519 signature.
const ED25519_BYTES: usize = 64;

/// A public key in minisign's format: 56 characters that begin with `RW`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signer(String);

/// A text is not a valid public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not a public key of minisign, which has 56 characters and begins with `RW`")]
#[non_exhaustive]
pub struct NotASigner;

/// A component's signature, with the key that checks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    signer: Signer,
    text: String,
}

/// Why a component could not be signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSigned {
    /// The text is not a valid secret key.
    #[error("it is not a secret key of minisign")]
    NotAKey,
    /// The key has a password, but none is given.
    #[error("the key has a password")]
    PasswordWanted,
    /// The password is wrong.
    #[error("the password is not the key's")]
    WrongPassword,
    /// The system provides no random numbers.
    #[error("cannot sign: {0}")]
    Failed(String),
}

/// Why a signature does not prove that its signer signed the component.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadSignature {
    /// Either the key or the signature is missing, or one of them is not valid.
    #[error("its signature is not valid")]
    Malformed,
    /// The signature belongs to another component, or is by another key.
    #[error("its signature is not one of this component by {0}")]
    NotOfThis(Signer),
}

impl Signature {
    /// Signs a component with a secret key in the format of minisign's file.
    ///
    /// # Errors
    /// Why the component could not be signed.
    pub fn make(
        component: &[u8],
        secret_key: &str,
        password: Option<Zeroizing<String>>,
    ) -> Result<Signature, NotSigned> {
        let secret = secret_key_of(secret_key, password)?;
        let failed = |error: minisign::PError| NotSigned::Failed(error.to_string());
        let public = PublicKey::from_secret_key(&secret).map_err(failed)?;
        let comment = Some("scorebox");
        let signature = minisign::sign(None, &secret, Cursor::new(component), comment, comment);
        let text = signature.map_err(failed)?.into_string();
        Ok(Signature { signer: Signer(public.to_base64()), text })
    }

    /// A signature in the format of minisign's file, attributed to `signer`.
    ///
    /// # Errors
    /// [`BadSignature::Malformed`] if the text is too long. Nothing else is checked.
    pub fn of_text(signer: &Signer, text: &str) -> Result<Signature, BadSignature> {
        if text.len() > MAX_BYTES {
            return Err(BadSignature::Malformed);
        }
        // Git and editors may convert the line ends of a file to those of Windows.
        Ok(Signature { signer: signer.clone(), text: text.replace("\r\n", "\n") })
    }

    /// The text of the signature in the annotations of a manifest, whatever its signer is.
    pub(crate) fn text_of_annotations(annotations: &BTreeMap<String, String>) -> Option<&str> {
        annotations.get(SIGNATURE).map(String::as_str)
    }

    /// The signature in the annotations of a manifest; `None` if there is neither a key nor a signature.
    ///
    /// # Errors
    /// [`BadSignature::Malformed`].
    pub fn of_annotations(
        annotations: &BTreeMap<String, String>,
    ) -> Result<Option<Signature>, BadSignature> {
        match (annotations.get(SIGNER), annotations.get(SIGNATURE)) {
            (None, None) => Ok(None),
            (Some(signer), Some(text)) => {
                let signer = signer.parse().map_err(|_| BadSignature::Malformed)?;
                Signature::of_text(&signer, text).map(Some)
            }
            _ => Err(BadSignature::Malformed),
        }
    }

    /// The signature as annotations.
    pub fn annotations(&self) -> [(String, String); 2] {
        [(SIGNER.to_owned(), self.signer.0.clone()), (SIGNATURE.to_owned(), self.text.clone())]
    }

    /// The text of the signature, as in a minisign file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the signature contains the id of its signer's key. The id proves nothing: it only selects the message
    /// for a signature by another key.
    ///
    /// # Errors
    /// [`BadSignature::Malformed`].
    pub(crate) fn names_its_signer(&self) -> Result<bool, BadSignature> {
        let key = self.signer.key().ok_or(BadSignature::Malformed)?;
        let signature =
            SignatureBox::from_string(&self.text).map_err(|_| BadSignature::Malformed)?;
        Ok(signature.keynum() == key.keynum())
    }

    /// The key that the signature is attributed to.
    pub fn signer(&self) -> &Signer {
        &self.signer
    }

    /// Checks that the signer's key signed this component.
    ///
    /// # Errors
    /// If it did not.
    pub fn verify(&self, component: &[u8]) -> Result<(), BadSignature> {
        let key = self.signer.key().ok_or(BadSignature::Malformed)?;
        let signature =
            SignatureBox::from_string(&self.text).map_err(|_| BadSignature::Malformed)?;
        // Only one text is accepted for a signature: base64 has unused bits at its end, and minisign accepts a comment
        // signature that is too long, and panics if it is too short.
        if signature.to_string().trim_end() != self.text.trim_end() || !self.comment_is_signed() {
            return Err(BadSignature::Malformed);
        }
        let verified =
            minisign::verify(&key, &signature, Cursor::new(component), true, false, false);
        verified.map_err(|_| BadSignature::NotOfThis(self.signer.clone()))
    }

    /// Whether the last line has the length of an Ed25519 signature.
    fn comment_is_signed(&self) -> bool {
        let line = self.text.lines().nth(3).unwrap_or_default();
        STANDARD.decode(line.trim()).is_ok_and(|bytes| bytes.len() == ED25519_BYTES)
    }
}

/// The key after the comment line, in minisign's format: 158 bytes in base64, of which the third and the fourth are
/// zero if the key has no password.
fn secret_key_of(text: &str, password: Option<Zeroizing<String>>) -> Result<SecretKey, NotSigned> {
    let line = text.lines().nth(1).unwrap_or_default();
    let bytes = Zeroizing::new(STANDARD.decode(line.trim()).map_err(|_| NotSigned::NotAKey)?);
    match bytes.get(2..4) {
        Some(derivation) if bytes.len() == SECRET_KEY_BYTES => {
            // minisign's own tool leaves the checksum empty in a key without a password.
            if derivation == [0, 0] {
                return SecretKey::from_bytes(&bytes).map_err(|_| NotSigned::NotAKey);
            }
        }
        _ => return Err(NotSigned::NotAKey),
    }
    let password = password.ok_or(NotSigned::PasswordWanted)?;
    let boxed = SecretKeyBox::from_string(text).map_err(|_| NotSigned::NotAKey)?;
    let key = SecretKey::from_box(boxed, Some(password.to_string()));
    key.map_err(|_| NotSigned::WrongPassword)
}

impl Signer {
    fn key(&self) -> Option<PublicKey> {
        PublicKey::from_base64(&self.0).ok()
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Signer {
    type Err = NotASigner;

    fn from_str(written: &str) -> Result<Signer, NotASigner> {
        let signer = Signer(written.to_owned());
        let is_one = written.len() == 56 && written.starts_with("RW") && signer.key().is_some();
        is_one.then_some(signer).ok_or(NotASigner)
    }
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new key without a password, as text.
    fn secret_key() -> String {
        let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
        pair.sk.to_box(None).unwrap().into_string()
    }

    fn annotations(signature: &Signature) -> BTreeMap<String, String> {
        signature.annotations().into()
    }

    #[test]
    fn a_signature_is_of_one_component_by_one_key() {
        let signature = Signature::make(b"one", &secret_key(), None).unwrap();
        let read = Signature::of_annotations(&annotations(&signature)).unwrap().unwrap();
        assert_eq!(read, signature);
        assert_eq!(read.verify(b"one"), Ok(()));
        let signer = read.signer().clone();
        assert_eq!(read.verify(b"two"), Err(BadSignature::NotOfThis(signer)));
        // A signature by one key, attributed to another.
        let other = Signature::make(b"one", &secret_key(), None).unwrap();
        let mixed = Signature { signer: other.signer.clone(), ..signature };
        assert_eq!(mixed.verify(b"one"), Err(BadSignature::NotOfThis(other.signer)));
    }

    #[test]
    fn an_empty_signature_is_none_and_half_a_signature_is_malformed() {
        assert_eq!(Signature::of_annotations(&BTreeMap::new()), Ok(None));
        let signature = Signature::make(b"one", &secret_key(), None).unwrap();
        let whole = annotations(&signature);
        for key in [SIGNER, SIGNATURE] {
            let mut half = whole.clone();
            half.remove(key);
            assert_eq!(Signature::of_annotations(&half), Err(BadSignature::Malformed));
        }
        let mut long = whole.clone();
        long.insert(SIGNATURE.to_owned(), "x".repeat(MAX_BYTES + 1));
        assert_eq!(Signature::of_annotations(&long), Err(BadSignature::Malformed));
        let mut other = whole;
        other.insert(SIGNER.to_owned(), "RW\u{1b}[2J".to_owned());
        assert_eq!(Signature::of_annotations(&other), Err(BadSignature::Malformed));
    }

    #[test]
    fn any_part_of_a_signature_that_is_changed_makes_it_invalid() {
        let signature = Signature::make(b"one", &secret_key(), None).unwrap();
        for at in 0..signature.text.len() {
            for with in ["", "A", "\n", "=", "é"] {
                let mut text = signature.text.clone();
                text.replace_range(at..=at, with);
                // A change in the unsigned line, or to the same byte, has no effect; and no change causes a panic.
                let changed = Signature { text, ..signature.clone() };
                let is_unsigned = at < signature.text.find('\n').unwrap();
                let is_same = changed.text.trim() == signature.text.trim();
                let expected = match is_another_signature(&signature.text, at, with) {
                    true => BadSignature::NotOfThis(signature.signer.clone()),
                    false => BadSignature::Malformed,
                };
                match changed.verify(b"one") {
                    Ok(()) => assert!(is_unsigned || is_same, "{changed:?}"),
                    Err(error) => assert_eq!(error, expected, "{changed:?}"),
                }
            }
        }
    }

    /// Whether this change of one byte turns the text into that of another signature: the byte is in the signed
    /// comment, or a base64 letter after the name of the algorithm.
    fn is_another_signature(text: &str, at: usize, with: &str) -> bool {
        const ALGORITHM: usize = 3;
        let before = &text[..at];
        let (number, column) = (
            before.matches('\n').count(),
            before.len() - before.rfind('\n').map_or(0, |it| it + 1),
        );
        let line = text.lines().nth(number).unwrap_or_default();
        let letters = line.trim_end_matches('=').len();
        match number {
            1 => with == "A" && (ALGORITHM..letters).contains(&column),
            2 => with != "\n" && ("trusted comment: ".len()..line.len()).contains(&column),
            3 => with == "A" && column < letters,
            _ => false,
        }
    }

    #[test]
    fn a_malformed_signature_of_the_comment_makes_it_invalid() {
        let signature = Signature::make(b"one", &secret_key(), None).unwrap();
        let lines: Vec<&str> = signature.text.lines().collect();
        let bytes = STANDARD.decode(lines[3]).unwrap();
        for length in [0, 1, 31, 32, 63, 65, 1_000] {
            let mut other = bytes.clone();
            other.resize(length, 0);
            let text = [&lines[..3], &[&STANDARD.encode(other)]].concat().join("\n");
            let changed = Signature { text, ..signature.clone() };
            assert_eq!(changed.verify(b"one"), Err(BadSignature::Malformed), "{length}");
        }
    }

    /// Created with the tool `minisign` 0.11 (`-G -W`), with its public key.
    const OF_THE_TOOL: [&str; 2] = [
        "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA4bA0bpoVFHz2ko6FS6xbi+WHwSvQNp6F8VLnnC/fYDbYV3fhd8JiVi5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI",
    ];

    #[test]
    fn keys_of_minisign_s_own_tool_sign() {
        let [secret, public] = OF_THE_TOOL;
        let signature = Signature::make(b"one", &format!("untrusted comment: x\n{secret}\n"), None);
        let signature = signature.unwrap();
        assert_eq!(signature.signer().as_str(), public);
        assert_eq!(signature.verify(b"one"), Ok(()));
    }

    #[test]
    fn a_key_with_a_password_needs_it() {
        let pair = minisign::KeyPair::generate_encrypted_keypair(Some("open sesame".to_owned()));
        let key = pair.unwrap().sk.to_box(None).unwrap().into_string();
        let make = |password: Option<&str>| {
            let password = password.map(|it| Zeroizing::new(it.to_owned()));
            Signature::make(b"one", &key, password)
        };
        assert_eq!(make(None), Err(NotSigned::PasswordWanted));
        assert_eq!(make(Some("open")), Err(NotSigned::WrongPassword));
        assert_eq!(make(Some("open sesame")).unwrap().verify(b"one"), Ok(()));
        for text in ["", "no key", "untrusted comment: x\nAAAA\n"] {
            assert_eq!(Signature::make(b"one", text, None), Err(NotSigned::NotAKey), "{text}");
        }
    }
}
