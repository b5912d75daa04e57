//! The reports that the user requests, and their files. The files are opened before anything is scored, so that a file
//! that cannot be written is an error at once; each gets its name only when it is complete.

use std::{
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
    str::FromStr,
};

use scorebox::{
    aggregate::AgreementOptions,
    reports::{ReportError, ReportFormat, ReportOptions, write_report},
    store::{Store, StoreError},
    verdict::Broken,
};
use scorebox_pages::HtmlReport;

use super::{Database, completing, place};
use crate::{
    failure::Failure,
    new_file::must_not_be_beside_a_database,
    output::{self, is_stdout},
    report::{one_line, shell_word},
    same_file::is_same,
    unfinished::Unfinished,
};

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A page in one file.
    Html,
    /// A format that the library writes.
    Other(ReportFormat),
}

impl Format {
    /// All formats.
    pub(crate) const ALL: [Format; 5] = [
        Format::Html,
        Format::Other(ReportFormat::Markdown),
        Format::Other(ReportFormat::Junit),
        Format::Other(ReportFormat::Jsonl),
        Format::Other(ReportFormat::Csv),
    ];

    /// The format that a file's extension names.
    pub(crate) fn of_file(path: &Path) -> Option<Format> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "html" | "htm" => Some(Format::Html),
            "md" => Some(Format::Other(ReportFormat::Markdown)),
            "xml" => Some(Format::Other(ReportFormat::Junit)),
            ending => ending.parse().ok(),
        }
    }

    /// The most runs in one document.
    fn most_runs(self) -> usize {
        match self {
            Format::Html => HtmlReport::MAX_RUNS,
            Format::Other(ReportFormat::Markdown) => usize::MAX,
            Format::Other(_) => 1,
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(word: &str) -> Result<Format, String> {
        match word {
            "html" => Ok(Format::Html),
            "md" => Ok(Format::Other(ReportFormat::Markdown)),
            word => word.parse().map(Format::Other).map_err(|_| {
                format!(
                    "`{}` is not a format of a report; there are html, junit, markdown (md), jsonl and csv",
                    one_line(word, 40)
                )
            }),
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Format::Html => f.write_str("html"),
            Format::Other(format) => write!(f, "{format}"),
        }
    }
}

/// The content of reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported<'a> {
    /// The runs, at least one.
    pub(crate) runs: &'a [String],
    /// Whether a soft regression fails a case too.
    pub(crate) strict: bool,
    /// Whether Markdown shows the intervals of means; a page always does.
    pub(crate) intervals: bool,
    /// Labels that scorers are compared with, on a page.
    pub(crate) labels: Option<AgreementOptions<'a>>,
    /// The broken requirements of the run.
    pub(crate) broken: &'a [Broken],
}

impl<'a> Reported<'a> {
    /// Reports of these runs.
    pub(crate) fn new(runs: &'a [String], strict: bool) -> Reported<'a> {
        Reported { runs, strict, intervals: false, labels: None, broken: &[] }
    }
}

/// Why a document was not written.
enum Trouble {
    /// Writing failed.
    Write(io::Error),
    /// The requested data does not exist, or the database is damaged: writing again does not help.
    Asked(Failure),
    Other(String),
}

impl From<ReportError> for Trouble {
    fn from(error: ReportError) -> Trouble {
        match error {
            ReportError::Write(error) => Trouble::Write(error),
            ReportError::Store(error @ StoreError::Corrupt { .. }) => Trouble::Asked(error.into()),
            error => Trouble::Other(error.to_string()),
        }
    }
}

impl From<scorebox_pages::ReportError> for Trouble {
    fn from(error: scorebox_pages::ReportError) -> Trouble {
        match error {
            scorebox_pages::ReportError::Write(error) => Trouble::Write(error),
            scorebox_pages::ReportError::Agreement(error) => Trouble::Asked(error.into()),
            scorebox_pages::ReportError::Store(error @ StoreError::Corrupt { .. }) => {
                Trouble::Asked(error.into())
            }
            error => Trouble::Other(error.to_string()),
        }
    }
}

impl Reported<'_> {
    fn write(self, store: &Store, format: Format, out: &mut dyn io::Write) -> Result<(), Trouble> {
        let Format::Other(format) = format else {
            let report = HtmlReport::new(self.runs)
                .with_strict(self.strict)
                .with_labels(self.labels)
                .with_broken(self.broken);
            return Ok(report.write(store, out)?);
        };
        for (index, run) in self.runs.iter().enumerate() {
            if index > 0 {
                out.write_all(b"\n").map_err(Trouble::Write)?;
            }
            let options = ReportOptions::new(run)
                .with_strict(self.strict)
                .with_intervals(self.intervals)
                .with_broken(self.broken);
            write_report(store, options, format, out)?;
        }
        Ok(())
    }
}

/// Reports of a run.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArguments {
    /// Also write a report: `html`, `junit`, `markdown`, `jsonl` or `csv`, and its file (`-`: standard output, in place
    /// of the summary); may be repeated
    #[arg(long = "report", value_name = "FORMAT=FILE", add = completing::report_targets(), help_heading = "Output")]
    reports: Vec<ReportTarget>,
}

/// A report, and its destination.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReportTarget {
    format: Format,
    place: Place,
}

impl ReportTarget {
    /// This format, to standard output (`-`) or into a file.
    pub(crate) fn new(format: Format, file: PathBuf) -> ReportTarget {
        let place = if is_stdout(&file) { Place::Stdout } else { Place::File(file) };
        ReportTarget { format, place }
    }

    /// The most runs in one document.
    pub(crate) fn most_runs(&self) -> usize {
        self.format.most_runs()
    }

    /// Whether it shows how scorers agree with labels.
    pub(crate) fn takes_labels(&self) -> bool {
        self.format == Format::Html
    }

    /// The format of the report.
    pub(crate) fn format(&self) -> Format {
        self.format
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Place {
    Stdout,
    File(PathBuf),
}

impl Place {
    /// Whether both are the same destination, however it is named.
    fn is(&self, other: &Place) -> bool {
        match (self, other) {
            (Place::File(one), Place::File(other)) => is_same(one, other),
            (one, other) => one == other,
        }
    }
}

impl FromStr for ReportTarget {
    type Err = String;

    fn from_str(written: &str) -> Result<ReportTarget, String> {
        let (format, file) = written
            .split_once('=')
            .filter(|(_, file)| !file.is_empty())
            .ok_or("name a format and a file: `junit=report.xml`")?;
        Ok(ReportTarget::new(format.parse()?, file.into()))
    }
}

/// Reports whose files are open.
#[derive(Debug)]
pub(crate) struct Reports(Vec<(ReportTarget, Opened)>);

/// The open destination of a report.
#[derive(Debug)]
enum Opened {
    Stdout,
    /// A file that gets this name when the report is complete.
    Beside(Unfinished, PathBuf),
    /// A device or a pipe, which no file must replace.
    Itself(File),
}

impl ReportArguments {
    /// Opens all files. None of them may be one of `others`, the files that the command reads or writes itself.
    pub(crate) fn open(&self, others: &[&Path]) -> Result<Reports, Failure> {
        open(&self.reports, others)
    }
}

/// Opens temporary files beside the files of these reports, which have the data until the reports are complete. None of
/// the reports' files may be one of `others`.
pub(crate) fn open(targets: &[ReportTarget], others: &[&Path]) -> Result<Reports, Failure> {
    let mut opened: Vec<(ReportTarget, Opened)> = Vec::new();
    for target in targets {
        if opened.iter().any(|(other, _)| other.place.is(&target.place)) {
            let place = match &target.place {
                Place::Stdout => "standard output".to_owned(),
                Place::File(path) => format!("`{}`", path.display()),
            };
            return Err(Failure::new(format!("two reports go to {place}"))
                .hint("use a separate file for each report"));
        }
        let file = match &target.place {
            Place::Stdout => Opened::Stdout,
            Place::File(path) => {
                must_not_be_beside_a_database(path)?;
                if others.iter().any(|other| is_same(path, other)) {
                    let path = path.display();
                    return Err(Failure::new(format!(
                        "a report cannot go to `{path}`: the command itself uses this file"
                    ))
                    .hint("name another file"));
                }
                open_file(path).map_err(|error| place::cannot_open("the report", path, &error))?
            }
        };
        opened.push((target.clone(), file));
    }
    Ok(Reports(opened))
}

/// The command that writes reports of a stored run.
pub(crate) fn reports_again(run: &str, strict: bool, database: &Database) -> String {
    let command = if strict { "report --strict --run" } else { "report --run" };
    database.command(command, run)
}

fn open_file(path: &Path) -> io::Result<Opened> {
    match path.metadata() {
        Ok(there) if there.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(there) if !there.is_file() => {
            Ok(Opened::Itself(place::open(File::options().write(true), path)?))
        }
        _ => {
            // Replaces the target of a link, not the link itself.
            let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            Ok(Opened::Beside(Unfinished::beside(&path, ".scorebox-report-")?, path))
        }
    }
}

impl Reports {
    /// The files of the reports.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter_map(|(target, _)| match &target.place {
            Place::Stdout => None,
            Place::File(path) => Some(path.as_path()),
        })
    }

    /// Whether one of them goes to standard output.
    pub(crate) fn go_to_stdout(&self) -> bool {
        self.0.iter().any(|(target, _)| target.place == Place::Stdout)
    }

    /// Writes all reports; `again` is the command that writes them again. A failure is returned at the end, so that the
    /// other reports are written.
    pub(crate) fn write(
        self,
        store: &Store,
        reported: Reported<'_>,
        again: &str,
    ) -> Result<(), Failure> {
        let mut failure = None;
        let mut missing = Vec::new();
        for (target, opened) in self.0 {
            match write_one(store, reported, &target, opened) {
                Ok(()) => {}
                Err(Missing::Asked(failure)) => return Err(failure),
                Err(Missing::Again(error)) => {
                    failure.get_or_insert(error);
                    missing.push(shell_word(target.to_string()));
                }
            }
        }
        let Some(failure) = failure else { return Ok(()) };
        let again = format!("{again} {}", missing.join(" "));
        Err(failure.hint(format!("the scores are stored; write the report again with: {again}")))
    }
}

impl std::fmt::Display for ReportTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            Place::Stdout => write!(f, "{}=-", self.format),
            Place::File(path) => write!(f, "{}={}", self.format, path.display()),
        }
    }
}

/// Why a report is missing.
enum Missing {
    /// The requested data does not exist.
    Asked(Failure),
    /// Another failure; the report can be written again.
    Again(Failure),
}

fn write_one(
    store: &Store,
    reported: Reported<'_>,
    target: &ReportTarget,
    opened: Opened,
) -> Result<(), Missing> {
    let failed = |error: &dyn std::fmt::Display| {
        let place = one_line(&target.to_string(), 200);
        Missing::Again(Failure::new(format!("cannot write the report {place}: {error}")))
    };
    let write = |out: &mut dyn io::Write| {
        let mut out = io::BufWriter::new(out);
        reported.write(store, target.format, &mut out).map_err(|trouble| match trouble {
            Trouble::Write(error) => failed(&error),
            Trouble::Other(words) => failed(&words),
            Trouble::Asked(failure) => Missing::Asked(failure),
        })?;
        out.flush().map_err(|error| failed(&error))
    };
    match opened {
        Opened::Beside(mut file, path) => {
            write(file.file())?;
            file.finish(&path, true).map_err(|error| failed(&error))
        }
        Opened::Itself(mut file) => write(&mut file),
        Opened::Stdout => {
            let mut missing = None;
            output::plain_stdout(|out| match reported.write(store, target.format, out) {
                Err(Trouble::Write(error)) => Err(error),
                Err(Trouble::Other(words)) => {
                    missing = Some(failed(&words));
                    Ok(())
                }
                Err(Trouble::Asked(failure)) => {
                    missing = Some(Missing::Asked(failure));
                    Ok(())
                }
                Ok(()) => Ok(()),
            })
            .map_err(Missing::Again)?;
            missing.map_or(Ok(()), Err)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_a_format_and_a_place() {
        let target: ReportTarget = "junit=out/a=b.xml".parse().unwrap();
        assert_eq!(target.place, Place::File("out/a=b.xml".into()));
        assert_eq!(target.to_string(), "junit=out/a=b.xml");
        assert_eq!("markdown=-".parse::<ReportTarget>().unwrap().place, Place::Stdout);
        assert_eq!("html=x".parse::<ReportTarget>().unwrap().format, Format::Html);
        for wrong in ["junit", "junit=", "=x", "pdf=x", ""] {
            assert!(wrong.parse::<ReportTarget>().is_err(), "{wrong}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_a_file_is_replaced() {
        assert!(matches!(open_file(Path::new("/dev/null")).unwrap(), Opened::Itself(_)));

        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.csv"), folder.path().join("link.csv"));
        std::fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let Opened::Beside(file, path) = open_file(&link).unwrap() else { panic!("a file") };
        assert_eq!(path, real.canonicalize().unwrap());
        drop(file);
        assert_eq!(std::fs::read_to_string(&real).unwrap(), "old");

        for wrong in [folder.path().to_owned(), folder.path().join("missing/report.csv")] {
            open_file(&wrong).unwrap_err();
        }
    }
}
