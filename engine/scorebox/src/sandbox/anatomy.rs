//! Reads a component's format, imports and exports from its bytes, before anything is compiled. It validates no code;
//! the compiler does.

use serde::{Deserialize, Serialize};
use wasmparser::{CanonicalFunction, Encoding, Parser, Payload};

use crate::{
    advice::{Advice, Build, Material},
    contract::{
        CONTRACT_VERSION, EXAMPLE_SECTION, MAX_EXAMPLE_BYTES, SCORING_INTERFACE, SCRIPT_SECTION,
    },
};

use super::{ErrorKind, Grants, ScoreError};

const SCORING_NAME: &str = "scorebox:scorer/scoring@";
/// The most imports, and the most exports, of one component: many times as many as all of WASI and the contract have.
const MAX_NAMES: usize = 1000;
/// The longest name of an import, an export or a language, in bytes.
const NAME_BYTES: usize = 512;

/// A component as seen from outside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Anatomy {
    /// The names of its imports, in the component's order.
    pub imports: Vec<String>,
    /// The names of its exports, in the component's order.
    pub exports: Vec<String>,
    /// The text of the example that it contains; not parsed.
    pub example: Option<String>,
    /// The language of the script that it runs, if it consists of a script and its interpreter.
    pub script: Option<String>,
    /// Whether it makes handles of its own resources, which are not in any of its memories.
    pub(super) makes_handles: bool,
}

impl Anatomy {
    /// Reads the outside of a component.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidComponent`] if the bytes are not a component, or are cut off.
    pub fn read(bytes: &[u8]) -> Result<Anatomy, ScoreError> {
        check_preamble(bytes)?;
        let mut anatomy = Anatomy::default();
        let mut depth = 0_usize;
        for payload in Parser::new(0).parse_all(bytes) {
            match payload.map_err(|error| malformed(&error, bytes.len()))? {
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(section) if depth == 0 => {
                    for import in section {
                        let import = import.map_err(|error| malformed(&error, bytes.len()))?;
                        add(&mut anatomy.imports, "imports", import.name.name)?;
                    }
                }
                Payload::ComponentExportSection(section) if depth == 0 => {
                    for export in section {
                        let export = export.map_err(|error| malformed(&error, bytes.len()))?;
                        add(&mut anatomy.exports, "exports", export.name.name)?;
                    }
                }
                Payload::CustomSection(section)
                    if depth == 0 && section.name() == EXAMPLE_SECTION =>
                {
                    let text = section.data().get(..section.data().len().min(MAX_EXAMPLE_BYTES));
                    anatomy.example = text.map(|text| String::from_utf8_lossy(text).into_owned());
                }
                Payload::CustomSection(section)
                    if depth == 0 && section.name() == SCRIPT_SECTION =>
                {
                    let language = section.data().get(..section.data().len().min(NAME_BYTES));
                    let language = language.map(String::from_utf8_lossy);
                    anatomy.script = language.map(|language| language.into_owned());
                }
                Payload::ComponentCanonicalSection(functions) => {
                    for function in functions {
                        let function = function.map_err(|error| malformed(&error, bytes.len()))?;
                        anatomy.makes_handles |=
                            matches!(function, CanonicalFunction::ResourceNew { .. });
                    }
                }
                _ => {}
            }
        }
        Ok(anatomy)
    }

    /// The grants that its imports need.
    pub fn grants(&self) -> Grants {
        Grants::needed_for(&self.imports)
    }

    /// Whether anything of WASI is imported.
    pub(super) fn imports_wasi(&self) -> bool {
        self.imports.iter().any(|import| import.starts_with("wasi:"))
    }

    /// Refuses a component that is not a scorer of this contract.
    ///
    /// # Errors
    /// Names the interface, or the version of it, that the component has instead.
    pub fn must_be_a_scorer(&self) -> Result<(), ScoreError> {
        let Some(version) = self.contract_version() else {
            return Err(invalid(format!(
                "the component exports {}; a scorer exports `{SCORING_INTERFACE}`",
                listed(&self.exports)
            ))
            .with(Advice::Build(Build::AgainstContract)));
        };
        if compatible(version) {
            return Ok(());
        }
        Err(invalid(format!(
            "the component speaks version {version} of the contract; this engine speaks {CONTRACT_VERSION}"
        ))
        .with(Advice::Build(Build::WithThisVersion)))
    }

    /// The version of the contract that it exports, such as `0.1.0`; `None` if it is not a scorer.
    pub fn contract_version(&self) -> Option<&str> {
        self.exports.iter().find_map(|name| name.strip_prefix(SCORING_NAME))
    }
}

fn add(names: &mut Vec<String>, what: &str, name: &str) -> Result<(), ScoreError> {
    if names.len() == MAX_NAMES {
        return Err(invalid(format!("the component has more than {MAX_NAMES} {what}")));
    }
    if name.len() > NAME_BYTES {
        return Err(invalid(format!(
            "one of the component's {what} has a name of {} bytes; the most is {NAME_BYTES}",
            name.len()
        )));
    }
    names.push(name.to_owned());
    Ok(())
}

/// Before 1.0, versions of one minor line are compatible with each other.
fn compatible(version: &str) -> bool {
    let minor_line = |version: &str| version.rsplit_once('.').map(|(line, _)| line.to_owned());
    minor_line(version) == minor_line(CONTRACT_VERSION)
}

fn check_preamble(bytes: &[u8]) -> Result<(), ScoreError> {
    if bytes.is_empty() {
        return Err(invalid("the file is empty".into()));
    }
    if !bytes.starts_with(b"\0asm") {
        return Err(invalid(format!(
            "not a WebAssembly file: it starts with {}",
            first_bytes(bytes)
        ))
        .with(Advice::MakeComponent(Material::Crate)));
    }
    match Parser::new(0).parse(bytes, true) {
        Ok(wasmparser::Chunk::Parsed {
            payload: Payload::Version { encoding: Encoding::Component, .. },
            ..
        }) => Ok(()),
        Ok(wasmparser::Chunk::Parsed {
            payload: Payload::Version { encoding: Encoding::Module, .. },
            ..
        }) => Err(invalid("a core WebAssembly module, not a component".into())
            .with(Advice::MakeComponent(Material::Module))),
        Ok(_) => Err(invalid("the file has no WebAssembly version".into())),
        Err(error) => Err(malformed(&error, bytes.len())),
    }
}

fn malformed(error: &wasmparser::BinaryReaderError, length: usize) -> ScoreError {
    let cut_off = error.offset() >= length || error.message().starts_with("unexpected end");
    if cut_off {
        return invalid(format!(
            "the component is cut off: it ends at byte {length}, in the middle of a section"
        ))
        .with(Advice::FetchAgain { name: None, compression: None });
    }
    invalid(format!("not a valid component, at byte {}: {}", error.offset(), error.message()))
}

fn invalid(message: String) -> ScoreError {
    ScoreError::new(ErrorKind::InvalidComponent, message)
}

fn first_bytes(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(12)];
    format!("`{}`", start.escape_ascii())
}

/// Lists names: `a`, `b` and 3 more.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 4;
    if names.is_empty() {
        return "nothing".to_owned();
    }
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
