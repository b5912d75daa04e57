//! A component's compiled code: compiles it, as bytes for a pipe or a file, and reads it as what wasmtime runs. It
//! decides neither where compiling happens nor where the bytes are kept.

use serde::{Deserialize, Serialize};
use wasmtime::{Engine, Module, component::Component};

use super::split::{self, CoreScore, Shape, Split};
use crate::digest::Digest;

/// The parts of a component's compiled code.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
enum Form {
    /// Code separate from state: the shell with the code, and the first data module.
    Split {
        /// The digest of the component.
        of: Digest,
        /// The digest of the shell and the code that it imports, before they were compiled.
        shell: Digest,
        shape: Shape,
        /// How to call `score` in the code module, which is a separate part in that case.
        score: Option<CoreScore>,
    },
    /// State for the shell that exists already: the first data module.
    State { of: Digest, shape: Shape },
    /// The component as it was given, and why it is not split; `None` if splitting was not requested.
    Whole(Option<String>),
}

/// How a component is to be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Code separate from state, if possible: once for all configurations.
    Apart,
    /// As it is given.
    Whole,
}

/// A component's compiled code.
pub(super) enum Code {
    /// Separate from its state.
    Split(Box<SplitCode>),
    /// Together with its state.
    Whole {
        component: Component,
        /// Why it is not split; `None` if splitting was not requested.
        reason: Option<String>,
    },
}

/// Compiled code that takes its state from a data module.
pub(super) struct SplitCode {
    /// The digest of the component that `first` and `shape` belong to. Others can have the same shell.
    pub(super) of: Digest,
    pub(super) shell: Component,
    /// The digest of the bytes that `shell` and `code` were compiled from.
    pub(super) shell_digest: Digest,
    /// The code, if the shell imports it.
    pub(super) code: Option<ScoringCode>,
    /// The data module that the component itself starts from.
    pub(super) first: Module,
    pub(super) shape: Shape,
}

/// Code whose `score` can be called without the shell.
#[derive(Clone)]
pub(super) struct ScoringCode {
    pub(super) module: Module,
    pub(super) score: CoreScore,
}

impl Code {
    /// The component that exports the scorer's interface.
    pub(super) fn component(&self) -> &Component {
        match self {
            Code::Split(code) => &code.shell,
            Code::Whole { component, .. } => component,
        }
    }
}

/// The size of the length before each part, in bytes.
const LENGTH_BYTES: usize = 8;

/// Compiles a component, without the shell if that has the digest `beside`; [`read`] reads the result.
///
/// # Errors
/// The compiler's message.
pub(super) fn compile(
    engine: &Engine,
    component: &[u8],
    way: Way,
    beside: Option<Digest>,
) -> Result<Vec<u8>, String> {
    let reason = match way {
        Way::Whole => None,
        Way::Apart => match split::split(component) {
            // If a part does not compile, the component itself does not either, and its error is a better message.
            Ok(split) => match compile_parts(engine, component, split, beside) {
                Ok((form, parts)) => return written(&form, &parts),
                Err(_) => Some("has parts that do not compile alone".to_owned()),
            },
            Err(reason) => Some(reason.to_string()),
        },
    };
    let compiled = engine.precompile_component(component).map_err(|error| format!("{error:#}"))?;
    written(&Form::Whole(reason), &[compiled])
}

fn compile_parts(
    engine: &Engine,
    component: &[u8],
    split: Split,
    beside: Option<Digest>,
) -> wasmtime::Result<(Form, Vec<Vec<u8>>)> {
    let Split { shell: bytes, code, first, shape } = split;
    let (code, score) = code.unzip();
    let (of, shell) = (Digest::of(component), digest_of_code(&bytes, code.as_deref()));
    let first = engine.precompile_module(&first)?;
    if beside == Some(shell) {
        return Ok((Form::State { of, shape }, vec![first]));
    }
    let mut parts = vec![engine.precompile_component(&bytes)?, first];
    if let Some(code) = code {
        parts.push(engine.precompile_module(&code)?);
    }
    Ok((Form::Split { of, shell, shape, score }, parts))
}

/// The digest of a shell, and of the code module if it imports one.
fn digest_of_code(shell: &[u8], code: Option<&[u8]>) -> Digest {
    match code {
        None => Digest::of(shell),
        Some(code) => {
            Digest::of(&[*Digest::of(shell).as_bytes(), *Digest::of(code).as_bytes()].concat())
        }
    }
}

/// Form and parts, each after its length.
fn written(form: &Form, parts: &[Vec<u8>]) -> Result<Vec<u8>, String> {
    let form = serde_json::to_vec(form).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    for part in std::iter::once(&form).chain(parts) {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    }
    Ok(bytes)
}

/// Why bytes are not compiled code that this engine can run.
pub(super) enum NotRead {
    /// They were cut off or changed.
    Broken,
    /// wasmtime's message: the code needs more than the engine's pool has, or comes from another version.
    Refused(String),
}

/// Turns `bytes` into code that can run; `beside` is the code whose digest the compiler was given.
///
/// # Safety
/// The bytes are what [`compile`] gave, in a process of this program and this version.
#[expect(unsafe_code, reason = "wasmtime reads machine code only so")]
pub(super) unsafe fn read(
    engine: &Engine,
    bytes: &[u8],
    beside: Option<&SplitCode>,
) -> Result<Code, NotRead> {
    let (form, bytes) = part(bytes).ok_or(NotRead::Broken)?;
    let form: Form = serde_json::from_slice(form).map_err(|_| NotRead::Broken)?;
    let refused = |error: wasmtime::Error| NotRead::Refused(format!("{error:#}"));
    let (one, bytes) = part(bytes).ok_or(NotRead::Broken)?;
    // SAFETY: the caller's promise, for this call and the next: each part is what the engine's `precompile_…` gave, and
    // the form says which of them.
    let component = || unsafe { Component::deserialize(engine, one) }.map_err(refused);
    // SAFETY: as above.
    let module = |bytes| unsafe { Module::deserialize(engine, bytes) }.map_err(refused);
    match form {
        Form::Whole(reason) => Ok(Code::Whole { component: component()?, reason }),
        Form::Split { of, shell: shell_digest, shape, score } => {
            let (first, bytes) = part(bytes).ok_or(NotRead::Broken)?;
            let code = match score {
                None => None,
                Some(score) => {
                    let (code, _) = part(bytes).ok_or(NotRead::Broken)?;
                    Some(ScoringCode { module: module(code)?, score })
                }
            };
            let (shell, first) = (component()?, module(first)?);
            Ok(Code::Split(Box::new(SplitCode { of, shell, shell_digest, code, first, shape })))
        }
        Form::State { of, shape } => {
            let SplitCode { shell, shell_digest, code, .. } = beside.ok_or(NotRead::Broken)?;
            let (shell, shell_digest, code) = (shell.clone(), *shell_digest, code.clone());
            let first = module(one)?;
            Ok(Code::Split(Box::new(SplitCode { of, shell, shell_digest, code, first, shape })))
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
        #[expect(unsafe_code, reason = "wasmtime reads machine code only so")]
        let read = unsafe { read(&Engine::default(), bytes, None) };
        matches!(read, Err(NotRead::Broken))
    }

    #[test]
    fn code_that_is_cut_off_anywhere_is_not_run() {
        let compiled = compile(&Engine::default(), b"\0asm\x0d\0\x01\0", Way::Whole, None).unwrap();
        assert!(!is_broken(&compiled));
        for end in (0..compiled.len()).step_by(97).chain([7, 8, 9, compiled.len() - 1]) {
            assert!(is_broken(&compiled[..end]), "{end} bytes");
        }
    }

    #[test]
    fn a_component_that_is_not_split_says_why() {
        let compiled = compile(&Engine::default(), b"\0asm\x0d\0\x01\0", Way::Apart, None).unwrap();
        let (form, _) = part(&compiled).unwrap();
        assert_eq!(String::from_utf8_lossy(form), r#"{"whole":"has no memory"}"#);
    }
}
