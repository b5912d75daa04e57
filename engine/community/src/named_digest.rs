//! Writes a digest into documents as registries do: `sha256:` and 64 hexadecimal digits. For `#[serde(with)]`.

use scorebox::digest::Digest;
use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

pub(crate) fn serialize<S: Serializer>(digest: &Digest, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("sha256:{digest}"))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Digest, D::Error> {
    let text = String::deserialize(from)?;
    let digest = text.strip_prefix("sha256:").and_then(|it| it.parse::<Digest>().ok());
    digest.ok_or_else(|| D::Error::custom("a digest is `sha256:` and 64 hexadecimal digits"))
}
