//! The enums of advice that are only names: limits, things, forms and others. `Advice` defines what to do with them.

use serde::Serialize;

/// Defines an enum of names, with a list of all of them.
macro_rules! listed {
    ($(#[$of_enum:meta])* $name:ident { $($(#[$of_word:meta])* $word:ident,)* }) => {
        $(#[$of_enum])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(rename_all = "camelCase")]
        #[non_exhaustive]
        pub enum $name { $($(#[$of_word])* $word,)* }

        impl $name {
            /// All variants.
            pub const ALL: &[$name] = &[$($name::$word,)*];
        }
    };
}

listed! {
    /// A limit that a user can set.
    Limit {
        /// The fuel of one score.
        Fuel,
        /// The memory of one score.
        Memory,
        /// The wall-clock time that one score may compute.
        Timeout,
        /// The size of a reason.
        Reason,
        /// The size of `meta`, and of a summary.
        Meta,
        /// The number of assertions of one score.
        Assertions,
        /// The size of one score's log messages.
        Log,
        /// The time for all compiling of one scorer.
        CompileTime,
        /// The memory for compiling one scorer.
        CompileMemory,
        /// The memory of all sandboxes together.
        MemoryBudget,
        /// What a run, a judge or a scorer may spend on questions.
        JudgeBudget,
        /// The time for a judge, or for all answers of one score.
        JudgeTimeout,
    }
}

impl Resource {
    /// What the system had none left of when this failed, if that is why.
    pub(crate) fn lacking(error: &std::io::Error) -> Option<Resource> {
        error.raw_os_error().and_then(Resource::of_code)
    }

    #[cfg(unix)]
    fn of_code(code: i32) -> Option<Resource> {
        use rustix::io::Errno;
        match Errno::from_raw_os_error(code) {
            Errno::MFILE | Errno::NFILE => Some(Resource::Files),
            Errno::NOMEM => Some(Resource::Memory),
            Errno::AGAIN => Some(Resource::Threads),
            Errno::FBIG => Some(Resource::FileSize),
            _ => None,
        }
    }

    /// Elsewhere it is not known which numbers these are.
    #[cfg(not(unix))]
    fn of_code(_: i32) -> Option<Resource> {
        None
    }
}

impl Limit {
    /// The limits on a scorer's output.
    pub const OF_OUTPUT: [Limit; 4] = [Limit::Meta, Limit::Reason, Limit::Assertions, Limit::Log];
}

listed! {
    /// What the system gives a process, up to a limit.
    Resource {
        /// Open files.
        Files,
        /// Memory.
        Memory,
        /// Threads and processes.
        Threads,
        /// Bytes of one file, which the image of a memory is, too.
        FileSize,
    }
}

listed! {
    /// What has a name.
    Thing {
        /// A scorer of the registry.
        Scorer,
        /// A scorer under its name in a suite.
        ScorerOfSuite,
        /// The file of a component.
        Component,
        /// A scorer's file, with the ending of a component or a script.
        ScorerFile,
        /// The folder of a scorer's crate.
        Crate,
        /// What a scorer is built from: a folder or a file.
        Source,
        /// A file.
        File,
        /// A file or a pipe, and not a device.
        FileOrPipe,
        /// The folder below which cases name their folders.
        Workspaces,
        /// Standard input.
        StandardInput,
        /// A part of a case.
        PartOfCase,
        /// A run.
        Run,
        /// A score.
        Score,
        /// A receipt.
        Receipt,
        /// A judge of a suite.
        Judge,
        /// Recorded answers of judges.
        Recordings,
        /// The format of a file.
        Format,
        /// Which labels of cases count as positive, given as words or numbers.
        PositiveLabels,
        /// Which labels count as positive if labels are words.
        PositiveWords,
    }
}

listed! {
    /// How to write something, if a message alone does not make it clear.
    Form {
        /// A case: a JSON object on its own line.
        Case,
        /// Cases: JSON Lines in UTF-8, plain or compressed.
        Cases,
        /// Cases on standard input: JSON Lines, whatever can be read from files.
        CasesOnStandardInput,
        /// A case is one line, so the file must have line ends.
        LineEnds,
        /// Less deeply nested: anything deeper can be put into a string.
        LessDeep,
        /// JSON has no NaN and no Infinity, but `null`.
        NullForNan,
        /// JSON uses double quotes.
        DoubleQuotes,
        /// Text is a JSON string.
        QuotedText,
        /// A pointer starts at the line's own object.
        PointerFromLine,
        /// A JSON Pointer begins with `/`.
        Pointer,
        /// `KEY=POINTER`.
        Mapping,
        /// An id (with iteration and attempt) names one case of a run.
        CaseId,
        /// A scorer's name in a suite.
        ScorerId,
        /// The id of a run.
        RunId,
        /// The id of a score.
        ScoreId,
        /// `NAME=VALUE`, for a limit.
        LimitOverride,
        /// A JSON document of a scorer.
        ScorerJson,
        /// A scorer prevents its score from exceeding 1 through rounding.
        RoundedScore,
        /// A scorer of points declares the scale `points`.
        PointsScale,
        /// A folder below the folder of all workspaces.
        WorkspaceFolder,
        /// A path: a relative one starts at the working directory.
        Path,
        /// A path in a suite file: a relative one starts at the folder of that file.
        PathInSuite,
        /// A pattern for files to omit from a workspace.
        ExcludePattern,
        /// The id of a row that several machines may have: unique across all of them.
        RowId,
    }
}

listed! {
    /// What a component can be made from.
    Material {
        /// A scorer's crate.
        Crate,
        /// A core WebAssembly module.
        Module,
    }
}

listed! {
    /// How to build a scorer.
    Build {
        /// Against the contract of this version of scorebox.
        AgainstContract,
        /// With bindings that follow the contract's rules: the scorer's own bindings, or their generator, are wrong.
        WithSoundBindings,
        /// With an SDK of this contract's version.
        WithThisVersion,
        /// Without asynchronous components.
        WithoutAsync,
        /// As a member of a workspace with a Cargo.lock.
        InWorkspace,
        /// As a `cdylib`.
        AsLibrary,
        /// With the SDK's macro that exports a scorer.
        WithExport,
        /// With the contract's functions as exports, as the SDKs of other languages do.
        WithExports,
        /// Without functions of a system or of a web page: a scorer has neither.
        WithoutSystem,
        /// Without wasm-bindgen's requirements: dependencies without their features for a browser.
        WithoutPage,
        /// With a smaller schema of its configuration.
        WithSmallSchema,
        /// Not at all: it is a component already.
        NotAgain,
    }
}

listed! {
    /// The compiler of a language.
    Compiler {
        /// For C and C++.
        C,
        /// For C and C++, if its folder is named.
        WasiSdk,
        /// For Zig.
        Zig,
        /// For Go.
        Go,
        /// For AssemblyScript.
        AssemblyScript,
    }
}

listed! {
    /// Why files should be omitted from a workspace.
    LeaveOut {
        /// They cannot be read.
        Unreadable,
        /// Their names cannot be passed on.
        Unnameable,
        /// Reading them takes too long.
        Slow,
        /// They are too many, too large or too deep.
        TooMuch,
    }
}

listed! {
    /// What to do about a database or its file.
    Database {
        /// Check the path: the first run creates the database.
        CheckPath,
        /// Create the folder, or name another path.
        CreateFolder,
        /// Go to a folder that is there, or name a path from the root.
        LeaveFolder,
        /// Name a file, which is created if it does not exist.
        NameFile,
        /// Remove what is beside the database under the name of one of its files.
        RemoveBeside,
        /// Name another path: nothing was changed in this file.
        AnotherPath,
        /// Drop the object that does not belong there, or name another path.
        DropObject,
        /// Store a run in it first.
        StoreFirst,
        /// Copy it to a folder that can be written to.
        Copy,
        /// Copy it together with the files that SQLite keeps beside it.
        CopyWithLog,
        /// Check the permissions of the file and its folder.
        CheckPermissions,
        /// Make it writable.
        MakeWritable,
        /// Wait for the process that has locked it, or use another file.
        Wait,
        /// Wait for the process that writes the run, then remove it.
        WaitToRemove,
        /// Wait for the process that writes the run; then what it leaves can be resumed.
        WaitToResume,
        /// Verify the run that another process finished: nothing was written since.
        Verify,
        /// Verify the run to see what was changed.
        VerifyRun,
        /// Remove the runs with copies of its scores too, or first.
        RemoveCopies,
        /// Move it back, or score again in a new one.
        MoveBack,
        /// Make room on the disk, then resume.
        MakeRoom,
        /// Save what can be read of it.
        Recover,
        /// Keep a copy and use a new file: another program changes this one, or it is damaged.
        Distrust,
        /// Try again, and report it if it persists.
        TryAgain,
    }
}
