//! Opens the case files that a user names, in any supported format: the format, and the location of the keys. The
//! formats themselves are in `scorebox-readers`.

use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
use scorebox::{
    advice::Advised as _,
    case::{CaseReader, Mapping, Source, UnmatchedRules},
};
use scorebox_readers::{Format, LeftOut, Settings};

use crate::{
    advice,
    failure::Failure,
    input::{take_stdin, typed_input},
    report::printable,
    words,
};

/// How files with cases are read.
#[derive(Debug, clap::Args)]
pub(crate) struct CaseFileArguments {
    /// The format of the files, instead of detecting it
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(), help_heading = "Cases")]
    from: Option<Format>,

    /// Where to find a part in each line, as a JSON Pointer: `output=/response/text`; of a table, its column:
    /// `output=/answer`
    #[arg(long, value_name = "KEY=POINTER", help_heading = "Cases")]
    map: Vec<String>,
}

/// Files that are ready to be read.
#[derive(Debug)]
pub(crate) struct CaseFiles {
    pub reader: CaseReader,
    /// The format of each file, in the files' order.
    pub formats: Vec<Format>,
    pub left_out: LeftOutOfFiles,
    pub unmatched: Unmatched,
}

/// The `--map` rules that found nothing, complete once all cases are read.
#[derive(Debug)]
pub(crate) struct Unmatched(UnmatchedRules);

/// What was left out of files, each with its name.
#[derive(Debug)]
pub(crate) struct LeftOutOfFiles(Vec<(String, LeftOut)>);

impl CaseFileArguments {
    /// Whether the user mapped keys.
    pub(crate) fn maps(&self) -> bool {
        !self.map.is_empty()
    }

    /// The options as the user gave them, as command-line arguments.
    pub(crate) fn words(&self) -> Vec<String> {
        let from = self.from.map(|format| ["--from".to_owned(), format.name().to_owned()]);
        let map = self.map.iter().map(|rule| ["--map".to_owned(), rule.clone()]);
        from.into_iter().chain(map).flatten().collect()
    }

    /// Opens files; `-` is standard input, which has lines of cases.
    pub(crate) fn open(&self, paths: &[&Path]) -> Result<CaseFiles, Failure> {
        let mapping = Mapping::parse(&self.map)?;
        let settings = Settings::new().with_format(self.from).with_mapping(mapping.clone());
        if paths.contains(&Path::new("-")) {
            take_stdin()?;
        }
        let (mut sources, mut formats, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for path in paths {
            if *path == Path::new("-") {
                sources.push(self.stdin()?);
                formats.push(Format::Cases);
                continue;
            }
            let opened = scorebox_readers::open(path, &settings)?;
            sources.push(opened.source);
            formats.push(opened.format);
            left_out.push((path.display().to_string(), opened.left_out));
        }
        let reader = CaseReader::open(sources, mapping)?;
        let unmatched = Unmatched::of(&reader);
        Ok(CaseFiles { reader, formats, left_out: LeftOutOfFiles(left_out), unmatched })
    }

    fn stdin(&self) -> Result<Source, Failure> {
        match self.from {
            None | Some(Format::Cases) => {
                typed_input();
                Ok(Source::stdin())
            }
            Some(format) => Err(Failure::new(format!(
                "standard input has lines of cases, and --from says `{format}`"
            ))
            .hint("save it to a file, and name that")),
        }
    }
}

impl Unmatched {
    /// The rules of a reader, even while it reads.
    pub(crate) fn of(reader: &CaseReader) -> Unmatched {
        Unmatched(reader.unmatched_rules())
    }

    /// Reports each rule that found nothing in any case; returns whether there is one, which is a mistake in the
    /// command.
    pub(crate) fn say(&self) -> bool {
        let failure = self.failure();
        if let Some(failure) = &failure {
            words::failure(failure);
        }
        failure.is_some()
    }

    /// The rules that found nothing in any case, as a command's failure; `None` if each found something.
    pub(crate) fn failure(&self) -> Option<Failure> {
        let rules = self.0.get().into_iter();
        Failure::of_each(rules.map(|rule| {
            let hint = rule.advice().as_ref().and_then(advice::words);
            (format!("--map {}", printable(&rule.to_string())), hint)
        }))
    }
}

impl LeftOutOfFiles {
    /// Reports what was left out and why, if anything was.
    pub(crate) fn say(&self) {
        for (name, left_out) in &self.0 {
            for (why, count) in left_out.counts() {
                words::say(&format!("{}: left out: {why} ({count})", printable(name)));
            }
        }
    }
}

/// The names of the formats, each with a description.
fn format_parser() -> impl clap::builder::TypedValueParser<Value = Format> {
    let names = Format::ALL.iter().map(|it| PossibleValue::new(it.name()).help(it.meaning()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Format>())
}
