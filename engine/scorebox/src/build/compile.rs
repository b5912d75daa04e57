//! Compiles a scorer with its language's own compiler and makes a component from it; the arguments of each compiler are
//! in the files of `compile/`. Rust crates are built by `guest`, which knows cargo.
//!
//! Sources are compiled from inside their folder, with relative names, so that the bytes do not depend on the folder's
//! path.

mod assemblyscript;
mod c;
mod go;
mod zig;

use std::{fs, path::Path};

use super::{
    BuildError, BuiltComponent, Language, Source, component_of_module, sdk,
    tool::{Tool, ToolOutput},
};

/// The stack of a guest in bytes, as in Rust's: deep enough for recursion over nested JSON.
const STACK_BYTES: u32 = 256 << 10;

/// The input of a compiler.
struct Job<'j> {
    source: &'j Source,
    /// A temporary folder for the compiler's files.
    scratch: &'j Path,
    /// A folder with the language's SDK.
    sdk: &'j Path,
    /// Where to write the module.
    module: &'j Path,
    output: ToolOutput,
}

/// Compiles `source` and makes a component from the module. `announce` gets the compiler's own version before it runs.
///
/// # Errors
/// [`BuildError::NoTool`] or [`BuildError::OldTool`] if the compiler is missing or too old, [`BuildError::Compiler`] if
/// it fails, and [`BuildError::Module`] if the result is not a scorer.
pub fn build_source(
    source: &Source,
    output: ToolOutput,
    announce: &mut dyn FnMut(&str),
) -> Result<BuiltComponent, BuildError> {
    let scratch = tempfile::tempdir().map_err(BuildError::file(std::env::temp_dir()))?;
    let sdk_folder = scratch.path().join("sdk");
    let module = scratch.path().join("module.wasm");
    sdk::write(source.language, &sdk_folder)?;
    let job = Job { source, scratch: scratch.path(), sdk: &sdk_folder, module: &module, output };
    let mut with = |tool: Tool, compile: fn(&Job<'_>, &Tool) -> Result<(), BuildError>| {
        announce(&tool.version);
        compile(&job, &tool)?;
        fs::read(&module).map_err(BuildError::file(&module))
    };
    let bytes = match source.language {
        Language::C | Language::Cpp => with(c::tool()?, c::compile)?,
        Language::Zig => with(zig::tool()?, zig::compile)?,
        Language::Go => with(go::tool()?, go::compile)?,
        Language::AssemblyScript => with(assemblyscript::tool(source)?, assemblyscript::compile)?,
        Language::Module => read_module(source)?,
        Language::Rust => return Err(BuildError::NotACrate(source.folder.clone())),
    };
    Ok(BuiltComponent::new(source.name.clone(), component_of_module(&bytes)?))
}

fn read_module(source: &Source) -> Result<Vec<u8>, BuildError> {
    let mut bytes = Vec::new();
    for file in &source.files {
        let path = source.folder.join(file);
        bytes = fs::read(&path).map_err(BuildError::file(&path))?;
    }
    Ok(bytes)
}
