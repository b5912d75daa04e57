//! Core modules from bytes: each becomes a component, or is refused.

use std::borrow::Cow;

use scorebox::{
    build::{BuildError, component_of_module},
    sandbox::Anatomy,
};

/// The most bytes of an error message: eight names of a hundred bytes, and the text around them.
const MESSAGE_BYTES: usize = 4 << 10;

/// Makes a component of a core module. An input may also be WebAssembly text.
pub fn core_module(data: &[u8]) {
    let Some(module) = module_of(data) else { return };
    match component_of_module(&module) {
        Ok(component) => {
            wasmparser::validate(&component).unwrap();
            // The component needs no grants beyond what the contract has.
            let anatomy = Anatomy::read(&component).unwrap();
            assert!(anatomy.imports.iter().all(|name| name.starts_with("scorebox:scorer/")));
            assert!(!anatomy.exports.is_empty());
            assert_eq!(component_of_module(&module).unwrap(), component);
        }
        Err(error) => {
            let message = error.to_string();
            assert!(
                !message.is_empty() && message.len() <= MESSAGE_BYTES,
                "{} bytes",
                message.len()
            );
            assert!(!matches!(error, BuildError::CannotRun { .. } | BuildError::File { .. }));
        }
    }
}

/// The module that an input is; `None` if its text is not valid.
pub(crate) fn module_of(data: &[u8]) -> Option<Cow<'_, [u8]>> {
    match data.starts_with(b"(") {
        true => wat::parse_bytes(data).ok().map(|bytes| Cow::Owned(bytes.into_owned())),
        false => Some(Cow::Borrowed(data)),
    }
}
