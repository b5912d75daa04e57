//! A component's compiled code: made, as bytes for a pipe or a file, and as what wasmtime runs. Decides
//! neither where compiling happens nor where the bytes are kept.

use serde::{Deserialize, Serialize};
use wasmtime::{Engine, Module, component::Component};

use super::split::{self, Shape, Split};

/// What the compiled code of a component consists of.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
enum Form {
    /// Code apart from state: the shell with the code, and the first data module.
    Split(Shape),
    /// The component as it was given, and why it is not split; `None` if it was not asked to be.
    Whole(Option<String>),
}

/// How a component is to be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Code apart from state, if possible: once for all configurations.
    Apart,
    /// As it is given.
    Whole,
}

/// A component's compiled code.
pub(super) enum Code {
    /// Apart from its state.
    Split(Box<SplitCode>),
    /// With it.
    Whole {
        component: Component,
        /// Why it is not split; `None` if it was not asked to be.
        reason: Option<String>,
    },
}

/// Compiled code that takes its state from a data module.
pub(super) struct SplitCode {
    pub(super) shell: Component,
    /// The data module that the component itself begins with.
    pub(super) first: Module,
    pub(super) shape: Shape,
}

impl Code {
    /// The component that exports what a scorer exports.
    pub(super) fn component(&self) -> &Component {
        match self {
            Code::Split(code) => &code.shell,
            Code::Whole { component, .. } => component,
        }
    }
}

/// Bytes of the length in front of each part.
const LENGTH_BYTES: usize = 8;

/// Compiles a component; the answer is for [`read`].
///
/// # Errors
/// The compiler's words.
pub(super) fn compile(engine: &Engine, component: &[u8], way: Way) -> Result<Vec<u8>, String> {
    let reason = match way {
        Way::Whole => None,
        Way::Apart => match split::split(component) {
            // If a part does not compile, the component itself does not, and its error says so better.
            Ok(split) => match compile_parts(engine, &split) {
                Ok(parts) => return written(&Form::Split(split.shape), &parts),
                Err(_) => Some("has parts that do not compile alone".to_owned()),
            },
            Err(reason) => Some(reason.to_string()),
        },
    };
    let compiled = engine.precompile_component(component).map_err(|error| format!("{error:#}"))?;
    written(&Form::Whole(reason), &[compiled])
}

fn compile_parts(engine: &Engine, split: &Split) -> wasmtime::Result<[Vec<u8>; 2]> {
    Ok([engine.precompile_component(&split.shell)?, engine.precompile_module(&split.first)?])
}

/// Form and parts, each behind its length.
fn written(form: &Form, parts: &[Vec<u8>]) -> Result<Vec<u8>, String> {
    let form = serde_json::to_vec(form).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    for part in std::iter::once(&form).chain(parts) {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    }
    Ok(bytes)
}

/// Why bytes are not compiled code that this engine runs.
pub(super) enum NotRead {
    /// They were cut off or changed.
    Broken,
    /// wasmtime's words: the code needs more than the engine's pool has, or is another version's.
    Refused(String),
}

/// Turns `bytes` into code that can run.
///
/// # Safety
/// The bytes are what [`compile`] gave, in a process of this program and this version.
#[allow(unsafe_code)]
pub(super) unsafe fn read(engine: &Engine, bytes: &[u8]) -> Result<Code, NotRead> {
    let (form, bytes) = part(bytes).ok_or(NotRead::Broken)?;
    let form: Form = serde_json::from_slice(form).map_err(|_| NotRead::Broken)?;
    let refused = |error: wasmtime::Error| NotRead::Refused(format!("{error:#}"));
    let (first_part, bytes) = part(bytes).ok_or(NotRead::Broken)?;
    // SAFETY: the caller's promise, for this call and those below: each part is what the engine's
    // `precompile_…` gave.
    let component = unsafe { Component::deserialize(engine, first_part) }.map_err(refused)?;
    match form {
        Form::Whole(reason) => Ok(Code::Whole { component, reason }),
        Form::Split(shape) => {
            let (first, _) = part(bytes).ok_or(NotRead::Broken)?;
            // SAFETY: as above.
            let first = unsafe { Module::deserialize(engine, first) }.map_err(refused)?;
            Ok(Code::Split(Box::new(SplitCode { shell: component, first, shape })))
        }
    }
}

/// The first part, and the rest.
fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, bytes) = bytes.split_at_checked(LENGTH_BYTES)?;
    let length = u64::from_le_bytes(length.try_into().ok()?);
    bytes.split_at_checked(usize::try_from(length).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_broken(bytes: &[u8]) -> bool {
        // SAFETY: what is read here is cut off or complete, and was compiled below.
        #[allow(unsafe_code)]
        let read = unsafe { read(&Engine::default(), bytes) };
        matches!(read, Err(NotRead::Broken))
    }

    #[test]
    fn code_that_is_cut_off_anywhere_is_not_run() {
        let compiled = compile(&Engine::default(), b"\0asm\x0d\0\x01\0", Way::Whole).unwrap();
        assert!(!is_broken(&compiled));
        for end in (0..compiled.len()).step_by(97).chain([7, 8, 9, compiled.len() - 1]) {
            assert!(is_broken(&compiled[..end]), "{end} bytes");
        }
    }

    #[test]
    fn a_component_that_is_not_split_says_why() {
        let compiled = compile(&Engine::default(), b"\0asm\x0d\0\x01\0", Way::Apart).unwrap();
        let (form, _) = part(&compiled).unwrap();
        assert_eq!(String::from_utf8_lossy(form), r#"{"whole":"has no memory"}"#);
    }
}
