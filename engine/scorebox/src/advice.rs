//! What to do about an error, as data, in one shape for the errors of all rooms. It contains no text: each front end
//! words it in its own way, a command line with its options, a page with its buttons. Types that are only a name are in
//! `words`.

mod words;

use std::path::Path;

use serde::Serialize;

pub use self::words::{
    Build, Compiler, Database, Form, LeaveOut, Limit, Material, Resource, Thing,
};
use crate::grant::Grant;

/// An error that may come with advice.
pub trait Advised: std::error::Error {
    /// What to do about it; `None` if the message is enough.
    fn advice(&self) -> Option<Advice>;

    /// The message of each mistake, with what to do about it: one, unless several were found at once.
    fn each(&self) -> Vec<(String, Option<Advice>)> {
        vec![(self.to_string(), self.advice())]
    }
}

/// What to do about an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Advice {
    /// Raise this limit, if that much is really needed.
    Raise(Limit),
    /// Make the scorer return less, or raise one of these limits; empty if no limit raises the bound.
    Shorten(Vec<Limit>),
    /// Lower one limit, or raise another.
    Lower {
        /// What to lower.
        limit: Limit,
        /// What to raise instead.
        or_raise: Limit,
    },
    /// No limit raises this bound.
    Bound(Bound),
    /// Grant this to the scorer, if it is trusted with it.
    Grant(Grant),
    /// A scorer may import only the contract, and what these grants allow.
    Importable(Vec<Grant>),
    /// One of these may have been meant, the closest first.
    DidYouMean(Vec<String>),
    /// Choose one of these names.
    Choose {
        /// The kind of thing that has these names.
        what: Thing,
        /// The names; empty if there is nothing to choose from.
        names: Vec<String>,
    },
    /// List these things, to find the right one.
    List(Thing),
    /// Name a thing of this kind.
    Name(Thing),
    /// Name the files in this folder, instead of the folder.
    NameFilesIn(String),
    /// Name it once only.
    Once(Thing),
    /// Check that the thing is the intended one.
    Check(Thing),
    /// Choose another name.
    Rename {
        /// The kind of thing that has the name.
        what: Thing,
        /// The name that is in use.
        taken: String,
    },
    /// Write it like this.
    Write(Form),
    /// Convert the data first.
    Convert(Conversion),
    /// State where in a line this part of a case is.
    Map {
        /// The part.
        part: String,
        /// The member of the line that it may be.
        member: Option<String>,
    },
    /// Make a component first: the file is not a component.
    MakeComponent(Material),
    /// Build the scorer again, in this way.
    Build(Build),
    /// Begin `main` with [`compile_if_asked`](crate::sandbox::compile_if_asked), or configure another place to compile.
    PrepareCompiler,
    /// Make the sandbox after the fork, in the process that scores, or start that process without a fork.
    MakeSandboxAfterFork,
    /// Install a compiler for wasm32.
    InstallToolchain,
    /// Add the script engine that runs scripts in Python.
    AddScriptEngine,
    /// Lock the published scorer to a component, after a look at it.
    Lock {
        /// Its address, without `oci://`.
        address: String,
        /// The suite file that uses it, if it is known.
        suite: Option<Box<Path>>,
    },
    /// Fetch the components that published scorers are locked to.
    Fetch {
        /// The suite file that uses them, if it is known.
        suite: Option<Box<Path>>,
    },
    /// Install this compiler, or a newer one.
    InstallCompiler(Compiler),
    /// Get the file again: it is damaged or cut off.
    FetchAgain {
        /// Its name, if it is known.
        name: Option<String>,
        /// How it is compressed (`gzip`, `zstd`), if that tool can report more.
        compression: Option<&'static str>,
    },
    /// Leave files of the workspace out.
    LeaveOut(LeaveOut),
    /// Do this about the database or its file.
    Database(Database),
    /// Name the other files without this one, which contains no case.
    NameOthers,
    /// Resume the run with all the cases that it began with, in the same order.
    SameCases,
    /// Resume the run without reading the `error` of its cases, as it began, or begin another.
    WithoutErrors,
    /// Resume the run with the same scorers, configurations, limits, grants and judges, or begin another.
    SameScorers,
    /// Ask judges once, so that their answers are recorded.
    Record,
    /// Have judges asked once more: a recorded answer is taken again.
    AskAgain,
    /// Allow the scorer to name these models in its entry, if they may cost what they cost.
    AllowModels(Vec<String>),
    /// Let several scores become one by their mean.
    ReduceByMean,
    /// Bound the questions to a judge in place of their cost.
    BoundCalls,
    /// Try again when the machine is less busy.
    TryLater,
    /// Let this process have more of it, or do with less.
    GiveMore(Resource),
    /// Only a newer version knows this format.
    Update,
    /// Only the version that wrote it knows this format.
    UseItsWriter,
    /// Report it: this is a bug.
    Report,
}

impl Advice {
    /// One value of each kind, so that a front end can test that it words all of them.
    pub fn one_of_each() -> Vec<Advice> {
        let name = || "NAME".to_owned();
        let mut all = vec![
            Advice::Shorten(Vec::new()),
            Advice::Shorten(vec![Limit::Reason]),
            Advice::Shorten(vec![Limit::Reason, Limit::Meta]),
            Advice::Lower { limit: Limit::Memory, or_raise: Limit::MemoryBudget },
            Advice::Importable(Grant::ALL.to_vec()),
            Advice::DidYouMean(vec![name(), name()]),
            Advice::Map { part: name(), member: Some(name()) },
            Advice::Map { part: name(), member: None },
            Advice::NameFilesIn(name()),
            Advice::PrepareCompiler,
            Advice::MakeSandboxAfterFork,
            Advice::InstallToolchain,
            Advice::AddScriptEngine,
            Advice::Lock { address: name(), suite: Some(Path::new("NAME").into()) },
            Advice::Lock { address: name(), suite: None },
            Advice::Fetch { suite: Some(Path::new("NAME").into()) },
            Advice::Fetch { suite: None },
            Advice::FetchAgain { name: Some(name()), compression: Some("gzip") },
            Advice::FetchAgain { name: Some(name()), compression: None },
            Advice::FetchAgain { name: None, compression: None },
            Advice::NameOthers,
            Advice::SameCases,
            Advice::WithoutErrors,
            Advice::SameScorers,
            Advice::Record,
            Advice::AllowModels(vec![name()]),
            Advice::ReduceByMean,
            Advice::AskAgain,
            Advice::BoundCalls,
            Advice::TryLater,
            Advice::Update,
            Advice::UseItsWriter,
            Advice::Report,
        ];
        all.extend(Limit::ALL.iter().copied().map(Advice::Raise));
        all.extend(Bound::one_of_each().map(Advice::Bound));
        all.extend(Grant::ALL.into_iter().map(Advice::Grant));
        for what in Thing::ALL.iter().copied() {
            all.extend([
                Advice::Choose { what, names: vec![name()] },
                Advice::Choose { what, names: Vec::new() },
                Advice::List(what),
                Advice::Name(what),
                Advice::Once(what),
                Advice::Check(what),
                Advice::Rename { what, taken: name() },
            ]);
        }
        all.extend(Form::ALL.iter().copied().map(Advice::Write));
        all.extend(Conversion::one_of_each().map(Advice::Convert));
        all.extend(Material::ALL.iter().copied().map(Advice::MakeComponent));
        all.extend(Build::ALL.iter().copied().map(Advice::Build));
        all.extend(Compiler::ALL.iter().copied().map(Advice::InstallCompiler));
        all.extend(LeaveOut::ALL.iter().copied().map(Advice::LeaveOut));
        all.extend(Database::ALL.iter().copied().map(Advice::Database));
        all.extend(Resource::ALL.iter().copied().map(Advice::GiveMore));
        all
    }

    /// `DidYouMean`, if some of `names` are close to `wanted`: for a program with its own documents or names.
    pub fn closest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<Advice> {
        Advice::did_you_mean(&crate::suggest::closest(wanted, names))
    }

    /// `DidYouMean`, if `names` is not empty.
    pub(crate) fn did_you_mean(names: &[impl ToString]) -> Option<Advice> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        (!names.is_empty()).then_some(Advice::DidYouMean(names))
    }
}

/// A bound of one sandbox that no limit raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Bound {
    /// How many core instances, memories and tables a component may have.
    #[non_exhaustive]
    Shape {
        /// Core instances.
        core_instances: u32,
        /// Linear memories.
        memories: u32,
        /// Tables.
        tables: u32,
        /// Elements of one table.
        table_elements: usize,
    },
    /// Open handles.
    Handles(usize),
    /// Bytes of standard output or error.
    PrintedBytes(usize),
    /// Random bytes of one call.
    RandomBytes(usize),
}

impl Bound {
    fn one_of_each() -> impl Iterator<Item = Bound> {
        let shape = Bound::Shape { core_instances: 1, memories: 1, tables: 1, table_elements: 1 };
        [shape, Bound::Handles(1), Bound::PrintedBytes(1), Bound::RandomBytes(1)].into_iter()
    }
}

/// A conversion of data into another form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Conversion {
    /// Text in another encoding, to UTF-8.
    ToUtf8,
    /// Text in another encoding of Unicode, to UTF-8.
    FromEncoding {
        /// The encoding, as iconv knows it.
        encoding: String,
    },
    /// A text with byte order marks within it, to one without.
    WithoutMarks,
    /// An array, to a line for each of its elements.
    ArrayToLines,
    /// A document of several lines, to one line.
    DocumentToLine,
    /// Python's spelling, to JSON.
    PythonToJson,
    /// A file with very many blank lines, to one without.
    WithoutBlankLines,
    /// A file that was compressed with a window of more than 128 MiB, to one with a smaller window.
    SmallerWindow {
        /// The file.
        name: String,
    },
    /// A compressed file that is to be followed, to the uncompressed one.
    Uncompressed {
        /// The file.
        name: String,
    },
}

impl Conversion {
    fn one_of_each() -> impl Iterator<Item = Conversion> {
        [
            Conversion::ToUtf8,
            Conversion::FromEncoding { encoding: "UTF-16".to_owned() },
            Conversion::WithoutMarks,
            Conversion::ArrayToLines,
            Conversion::DocumentToLine,
            Conversion::PythonToJson,
            Conversion::WithoutBlankLines,
            Conversion::SmallerWindow { name: "NAME".to_owned() },
            Conversion::Uncompressed { name: "NAME".to_owned() },
        ]
        .into_iter()
    }
}

#[cfg(test)]
mod tests;
