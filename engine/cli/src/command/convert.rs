//! `scorebox convert`: converts files of any format to lines of cases, and reports what was read and left out. It
//! scores nothing.

mod mapped;

use std::{
    borrow::Cow,
    collections::{HashMap, hash_map::Entry},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use scorebox::{
    advice::{Advice, Advised as _},
    case::{Case, Location, ReadError},
    digest::Digest,
    reports::readable_json,
};
use scorebox_readers::Format;

use crate::{
    advice,
    arguments::{CaseFileArguments, CaseFiles},
    failure::{Exit, Failure, WriteError},
    new_file::NewFileArguments,
    report::{count, counted, halves_replaced, one_line, printable},
    waiting::Waiting,
    words,
};

use mapped::mapped_line;

/// The most bad records that are shown; all are counted.
const MAX_SHOWN: usize = 10;
/// Extensions of files that are not lines of JSON.
const OTHER_EXTENSIONS: [&str; 10] =
    ["arrow", "csv", "db", "eval", "feather", "gz", "parquet", "tsv", "zip", "zst"];
/// What to do about cases with the same id.
const SAME_IDS: &str = "an id (with iteration and attempt) names one case of a run: score files with the same ids in a run each, or \
     take another id with --map id=POINTER";

/// Convert files of other tools to cases, and report what was read
///
/// What `scorebox run` reads of these files is written as JSON Lines; of cases with one id, iteration and attempt only
/// the first. Words go to standard error: how many cases there are, and what was left out and why.
#[derive(Debug, clap::Args)]
pub(crate) struct Convert {
    /// Files with cases, or folders of Hugging Face datasets
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    case_files: CaseFileArguments,

    #[command(flatten)]
    output: NewFileArguments,
}

/// The counts of what was read.
#[derive(Debug, Default)]
struct Counts {
    cases: u64,
    skipped: u64,
    /// Cases whose task failed.
    failed: u64,
    without_output: u64,
    bad: u64,
    /// Unpaired surrogates in JSON that were replaced by U+FFFD.
    halves: u64,
    /// The errors of the first bad records.
    first_bad: Vec<String>,
    /// The hints for these, each once.
    advice: Vec<Advice>,
    seen: Seen,
}

/// The cases that were read, by the key of a case in a run.
#[derive(Debug, Default)]
struct Seen {
    /// Half a digest of id, iteration and attempt, with the first location. Files may have millions of cases with long
    /// ids.
    first: HashMap<u128, Location>,
    /// Whether a case was repeated.
    again: bool,
}

impl Convert {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let paths: Vec<_> = self.files.iter().map(PathBuf::as_path).collect();
        self.output.must_be_apart(paths.iter().copied())?;
        if let Some(output) = self.output.path() {
            must_be_outside(output, &paths)?;
            must_be_for_lines(output)?;
        }
        let CaseFiles { mut reader, formats, left_out, unmatched } =
            self.case_files.open(&paths)?;
        let position = Arc::default();
        let waiting = Waiting::counting("reading cases", Arc::clone(&position));
        let mut counts = Counts::default();
        let written = self.output.write(|out| {
            while let Some(read) = reader.next_case() {
                match read {
                    Ok(case) => counts.put(&case, self.case_files.maps(), out)?,
                    Err(ReadError::BadCase(bad)) => counts.note_bad(bad.to_string(), bad.advice()),
                    Err(error) => return Err(Failure::from(error).into()),
                }
                waiting.at(counts.cases);
            }
            Ok(())
        });
        drop(waiting);
        if written?.is_none() {
            return Ok(Exit::Done);
        }
        for (path, format) in self.files.iter().zip(&formats) {
            words::say(&format!("{}: {}", printable(&path.display().to_string()), what(*format)));
        }
        counts.say();
        left_out.say();
        Ok(match unmatched.say() || counts.bad > 0 {
            true => Exit::BadInput,
            false => Exit::Done,
        })
    }
}

/// Refuses a name whose extension is not for JSON Lines.
fn must_be_for_lines(output: &Path) -> Result<(), Failure> {
    let extension = output.extension().and_then(|it| it.to_str()).map(str::to_ascii_lowercase);
    match extension {
        Some(extension) if OTHER_EXTENSIONS.contains(&extension.as_str()) => {
            Err(Failure::new(format!(
                "cases are written as JSON Lines, and `{}` names a file of another kind",
                output.display()
            ))
            .hint("name a file that ends in .jsonl"))
        }
        _ => Ok(()),
    }
}

/// Refuses to write into a folder that is read.
fn must_be_outside(output: &Path, read: &[&Path]) -> Result<(), Failure> {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(folder) = folder.unwrap_or(Path::new(".")).canonicalize() else { return Ok(()) };
    let holds =
        |read: &&&Path| read.is_dir() && read.canonicalize().is_ok_and(|it| folder.starts_with(it));
    match read.iter().find(holds) {
        Some(read) => Err(Failure::new(format!(
            "cannot write `{}`: the command itself reads the folder `{}`",
            output.display(),
            read.display()
        ))
        .hint("name a file elsewhere")),
        None => Ok(()),
    }
}

/// The description of a file of this format, for use in a sentence.
fn what(format: Format) -> String {
    format!("{} (--from {format})", format.meaning())
}

impl Counts {
    fn put(&mut self, case: &Case, mapped: bool, out: &mut dyn Write) -> Result<(), WriteError> {
        if let Some(first) = self.seen.first_of_the_same_name(case) {
            let (at, id) = (case.location(), case.id());
            self.note_bad(format!("{at}: duplicate id `{id}`, first used at {first}"), None);
            return Ok(());
        }
        self.cases += 1;
        self.skipped += u64::from(case.skip().is_some());
        let has_failed = case.skip().is_none() && case.error().is_some();
        self.failed += u64::from(has_failed);
        let needs_output = case.skip().is_none() && !has_failed;
        self.without_output += u64::from(case.output() == "null" && needs_output);
        let line: Cow<'_, str> = match mapped {
            false => case.json().into(),
            true => mapped_line(case).map_err(io::Error::from)?.into(),
        };
        let (line, halves) = readable_json(line);
        self.halves += halves;
        Ok(writeln!(out, "{line}")?)
    }

    fn note_bad(&mut self, bad: String, advice: Option<Advice>) {
        self.bad += 1;
        if self.first_bad.len() == MAX_SHOWN {
            return;
        }
        self.first_bad.push(bad);
        if let Some(advice) = advice
            && !self.advice.contains(&advice)
        {
            self.advice.push(advice);
        }
    }

    fn say(&self) {
        let mut said = counted(self.cases, "case", "cases");
        if self.skipped > 0 {
            said.push_str(&format!("; {} to be skipped", count(self.skipped)));
        }
        if self.failed > 0 {
            said.push_str(&format!("; {} whose task failed", count(self.failed)));
        }
        if self.without_output > 0 {
            said.push_str(&format!("; {} without an output (`null`)", count(self.without_output)));
        }
        words::say(&said);
        if self.halves > 0 {
            words::warn(&halves_replaced(self.halves));
        }
        if self.bad > 0 {
            let shown: Vec<String> =
                self.first_bad.iter().map(|bad| one_line(bad, usize::MAX)).collect();
            let first = match shown.len() as u64 {
                shown if shown < self.bad => format!("; the first {shown}"),
                _ => String::new(),
            };
            words::warn(&format!(
                "{} not valid and left out{first}:\n{}",
                match self.bad {
                    1 => "1 case is".to_owned(),
                    many => format!("{} cases are", count(many)),
                },
                shown.join("\n")
            ));
        }
        for hint in self.advice.iter().filter_map(advice::words) {
            words::hint(&hint);
        }
        if self.seen.again {
            words::hint(SAME_IDS);
        }
    }
}

impl Seen {
    /// The location where a case of this id, iteration and attempt was first read; `None` if this is the first one.
    fn first_of_the_same_name(&mut self, case: &Case) -> Option<Location> {
        let repeats = [case.iteration(), case.attempt()].map(u32::to_le_bytes);
        let digest = Digest::of_parts([case.id().as_bytes(), &repeats[0], &repeats[1]]);
        let name = digest.as_bytes().first_chunk().copied().map(u128::from_le_bytes)?;
        match self.first.entry(name) {
            Entry::Vacant(place) => {
                place.insert(case.location().clone());
                None
            }
            Entry::Occupied(first) => {
                self.again = true;
                Some(first.get().clone())
            }
        }
    }
}
