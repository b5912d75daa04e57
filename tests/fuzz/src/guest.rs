//! Small scorers made of core WebAssembly text, so that they are quick to compile. Runs nothing.

use std::{borrow::Cow, error::Error, path::Path};

use wit_component::{ComponentEncoder, StringEncoding};
use wit_parser::Resolve;

/// A scorer component that may read files, whose code is the core module `text`.
///
/// # Errors
/// If `text` is not a module, or lacks an export that the contract requires.
pub(crate) fn component(text: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    component_of("workspace-scorer", text)
}

/// A component of one of the contract's worlds, whose code is the core module `text`.
///
/// # Errors
/// If `text` is not a module, or lacks an export that the world requires.
pub(crate) fn component_of(world: &str, text: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut module = wat::parse_str(text)?;
    let mut resolve = Resolve::default();
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit/0.1.0");
    let (package, _) = resolve.push_dir(contract)?;
    let world = resolve.select_world(&[package], Some(world))?;
    wit_component::embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    Ok(ComponentEncoder::default().module(&module)?.encode()?)
}

/// The component that an input is: bytes as they are; WebAssembly text is assembled first, and a module is made a
/// component. `None` if the text is not valid.
pub(crate) fn assembled(data: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !data.starts_with(b"(") && !data.starts_with(b";;") {
        return Some(Cow::Borrowed(data));
    }
    let text = std::str::from_utf8(data).ok()?;
    let bytes = wat::parse_str(text).ok()?;
    match bytes.get(4..8) == Some(b"\x01\0\0\0") {
        true => component(text).ok(),
        false => Some(bytes),
    }
    .map(Cow::Owned)
}
