//! `scorebox convert`: files of any format as lines of cases, and what was read and left out. Scores nothing.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use scorebox::case::{BadCase, Case, Key, ReadError};
use scorebox_readers::Format;

use crate::{
    arguments::{CaseFileArguments, CaseFiles},
    failure::{Exit, Failure},
    new_file::{NewFileArguments, WriteError},
    report::{count, counted, one_line, printable},
    waiting::Waiting,
    words,
};

/// Bad records that are shown; all are counted.
const MOST_SHOWN: usize = 10;

/// Write files of other tools as cases, and say what was read
///
/// What `scorebox run` reads of these files is written as JSON Lines. Words go to standard error: how many cases there are, and
/// what was left out and why.
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

/// What was read.
#[derive(Debug, Default)]
struct Counts {
    cases: u64,
    skipped: u64,
    without_output: u64,
    bad: u64,
    first_bad: Vec<BadCase>,
}

impl Convert {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let paths: Vec<_> = self.files.iter().map(PathBuf::as_path).collect();
        self.output.must_be_apart(paths.iter().copied())?;
        if let Some(output) = self.output.path() {
            must_be_outside(output, &paths)?;
        }
        let CaseFiles { mut reader, formats, left_out } = self.case_files.open(&paths)?;
        let position = Arc::default();
        let waiting = Waiting::counting("reading cases", Arc::clone(&position));
        let mut counts = Counts::default();
        let written = self.output.write(|out| {
            while let Some(read) = reader.next_case() {
                match read {
                    Ok(case) => counts.put(&case, self.case_files.maps(), out)?,
                    Err(ReadError::BadCase(bad)) => counts.note_bad(bad),
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
        Ok(match counts.bad {
            0 => Exit::Done,
            _ => Exit::BadInput,
        })
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

/// What a file of this format is, within a sentence.
fn what(format: Format) -> String {
    format!("{} (--from {format})", format.meaning())
}

impl Counts {
    fn put(&mut self, case: &Case, mapped: bool, out: &mut dyn Write) -> Result<(), WriteError> {
        self.cases += 1;
        self.skipped += u64::from(case.skip().is_some());
        self.without_output += u64::from(case.output() == "null" && case.skip().is_none());
        match mapped {
            false => writeln!(out, "{}", case.json())?,
            true => write_mapped(case, out)?,
        }
        Ok(())
    }

    fn note_bad(&mut self, bad: BadCase) {
        self.bad += 1;
        if self.first_bad.len() < MOST_SHOWN {
            self.first_bad.push(bad);
        }
    }

    fn say(&self) {
        let mut said = counted(self.cases, "case", "cases");
        if self.skipped > 0 {
            said.push_str(&format!("; {} to be skipped", count(self.skipped)));
        }
        if self.without_output > 0 {
            said.push_str(&format!("; {} without an output (`null`)", count(self.without_output)));
        }
        words::say(&said);
        if self.bad > 0 {
            let shown: Vec<String> =
                self.first_bad.iter().map(|bad| one_line(&bad.to_string(), usize::MAX)).collect();
            words::warn(&format!(
                "{} not valid and left out:\n{}",
                match self.bad {
                    1 => "1 case is".to_owned(),
                    many => format!("{} cases are", count(many)),
                },
                shown.join("\n")
            ));
        }
    }
}

/// The case with each key under its own name; what a mapping was taken from stays beside it.
fn write_mapped(case: &Case, out: &mut dyn Write) -> Result<(), WriteError> {
    let mut separator = "{";
    let mut own = Vec::new();
    for key in Key::ALL {
        let value = match (key, case.raw(key)) {
            (_, Some(value)) => value,
            (Key::Output, None) => "null",
            _ => continue,
        };
        write!(out, "{separator}\"{}\":{value}", key.name())?;
        separator = ",";
        own.extend(key.spellings());
    }
    let others =
        case.other_json().map(serde_json::from_str::<serde_json::Map<_, serde_json::Value>>);
    if let Some(Ok(others)) = others {
        for (name, value) in others.iter().filter(|(name, _)| !own.contains(&name.as_str())) {
            let name = serde_json::to_string(name).map_err(std::io::Error::from)?;
            write!(out, "{separator}{name}:{value}")?;
            separator = ",";
        }
    }
    writeln!(out, "}}")?;
    Ok(())
}
