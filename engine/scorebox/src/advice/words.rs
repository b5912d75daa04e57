//! The plain words of advice: limits, things, forms and what else one of a list says. What is done with them is in
//! `Advice`.

use serde::Serialize;

/// An enum of plain words, and a list of all of them.
macro_rules! listed {
    ($(#[$of_enum:meta])* $name:ident { $($(#[$of_word:meta])* $word:ident,)* }) => {
        $(#[$of_enum])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(rename_all = "camelCase")]
        #[non_exhaustive]
        pub enum $name { $($(#[$of_word])* $word,)* }

        impl $name {
            /// All of them.
            pub const ALL: &[$name] = &[$($name::$word,)*];
        }
    };
}

listed! {
    /// A limit that a user can set.
    Limit {
        /// Fuel of one score.
        Fuel,
        /// Memory of one score.
        Memory,
        /// Wall-clock time that one score computes.
        Timeout,
        /// Bytes of a reason.
        Reason,
        /// Bytes of `meta`, and of a summary.
        Meta,
        /// Assertions of one score.
        Assertions,
        /// Bytes of log messages of one score.
        Log,
        /// Time of all compiling for one scorer.
        CompileTime,
        /// Memory of all compiling for one scorer.
        CompileMemory,
        /// Memory of all sandboxes together.
        MemoryBudget,
        /// What a run, a judge or a scorer may spend on questions.
        JudgeBudget,
        /// Time that a judge, or all answers of one score, may take.
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
    /// The limits on what a scorer gives.
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
    }
}

listed! {
    /// What has a name.
    Thing {
        /// A scorer of the registry.
        Scorer,
        /// A scorer as a suite calls it.
        ScorerOfSuite,
        /// The file of a component.
        Component,
        /// A scorer's file, by what its name ends with: a component or a script.
        ScorerFile,
        /// The folder of a scorer's crate.
        Crate,
        /// What a scorer is built from: a folder or a file.
        Source,
        /// A file.
        File,
        /// A file or a pipe, and not a device.
        FileOrPipe,
        /// The folder below which cases name theirs.
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
        /// Which labels of cases count as positive: words, or numbers.
        PositiveLabels,
        /// Which of labels that are words count as positive.
        PositiveWords,
    }
}

listed! {
    /// How something is to be written, if a message alone does not make it clear.
    Form {
        /// A case: a JSON object on its own line.
        Case,
        /// Cases: JSON Lines in UTF-8, plain or compressed.
        Cases,
        /// Cases on standard input: JSON Lines, whatever can be read from files.
        CasesOnStandardInput,
        /// A case is one line, so the file must have line ends.
        LineEnds,
        /// No deeper: what is nested deeper can be put into a string.
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
        /// A scorer keeps its score from exceeding 1 by rounding.
        RoundedScore,
        /// A scorer of points says that its scale is `points`.
        PointsScale,
        /// A folder below the one of all workspaces.
        WorkspaceFolder,
        /// A path: a relative one starts at the working directory.
        Path,
        /// A path in a suite file: a relative one starts at the folder of that file.
        PathInSuite,
        /// A pattern of what to leave out of a workspace.
        ExcludePattern,
        /// The id of a row that several machines may have: unique among all of them.
        RowId,
    }
}

listed! {
    /// What a component can be made of.
    Material {
        /// A scorer's crate.
        Crate,
        /// A core WebAssembly module.
        Module,
    }
}

listed! {
    /// How a scorer is to be built.
    Build {
        /// Against the contract of this version of scorebox.
        AgainstContract,
        /// With bindings that keep the contract's rules: its own, or what generated them, are wrong.
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
        /// With the contract's functions exported, as the SDKs of other languages do.
        WithExports,
        /// Without functions of a system or of a page: a scorer has neither.
        WithoutSystem,
        /// Without what wasm-bindgen needs: dependencies without the features that are for a browser.
        WithoutPage,
        /// With a smaller schema of its configuration.
        WithSmallSchema,
        /// Not at all: it is a component.
        NotAgain,
    }
}

listed! {
    /// What compiles a language.
    Compiler {
        /// For C and C++.
        C,
        /// For C and C++, where its folder is named.
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
    /// Why files of a workspace are to be left out.
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
        /// Remove what stands beside the database under the name of one of its files.
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
        /// Wait for the process that has it locked, or use another file.
        Wait,
        /// Wait for the process that writes the run, then remove it.
        WaitToRemove,
        /// Wait for the process that writes the run; what it leaves can be resumed then.
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
        /// Try again, and report it if it stays.
        TryAgain,
    }
}
