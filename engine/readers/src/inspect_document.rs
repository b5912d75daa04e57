//! Reads Inspect's logs that are one JSON document: finds the header and the samples. It leaves samples to `inspect`.

use serde::de::{Deserialize as _, Deserializer, IgnoredAny};

use crate::{
    emit::Emit,
    format::Format,
    inspect::{Header, MAX_SAMPLE_BYTES, Sample},
    left_out::LeftOut,
    lenient_json::LenientJson,
    problem::Problem,
    source_file::SourceFile,
    text::{Allowance, text},
    walk::{EACH, Path, Take, refuse, walk},
};

/// The paths of the header and the samples in a log.
const PATHS: &[Path] = &[&["eval"], &["samples", EACH]];

/// Reads a log.
pub(crate) fn read(source: &SourceFile, emit: &mut Emit) -> Result<(), Problem> {
    struct Log<'a> {
        header: Option<Header>,
        record: u64,
        source: &'a SourceFile,
        allowance: Allowance,
        emit: &'a mut Emit,
        problem: Option<Problem>,
    }

    impl Take for Log<'_> {
        fn take<'de, D: Deserializer<'de>>(
            &mut self,
            path: usize,
            element: D,
        ) -> Result<(), D::Error> {
            match path {
                0 => self.header = Some(Header::deserialize(element)?),
                _ => {
                    let sample = Sample::deserialize(element)?;
                    self.record += 1;
                    let header = self.header.get_or_insert_default();
                    let case = sample.case(header, self.record, Format::InspectJson, self.source);
                    let taken = case.and_then(|case| self.emit.case(&case));
                    refuse(&mut self.problem, taken)?;
                }
            }
            self.allowance.renew();
            Ok(())
        }

        fn problem(&mut self) -> Option<Problem> {
            self.problem.take()
        }
    }

    let header = header(source)?;
    let allowance = Allowance::of(MAX_SAMPLE_BYTES);
    let text = allowance.on(LenientJson::new(text(&source.path)?, emit.left_out()));
    let mut log = Log { header, record: 0, source, allowance, emit, problem: None };
    walk(text, PATHS, &mut log, "the log")?;
    match log.header {
        Some(_) => Ok(()),
        None => {
            Err(Problem::content("this is not an Inspect log: it has neither `eval` nor `samples`"))
        }
    }
}

/// The header of a log, wherever it is, because it applies to each sample. Reads no further, and does not report what
/// is wrong with the log: reading the samples does.
fn header(source: &SourceFile) -> Result<Option<Header>, Problem> {
    struct Find {
        header: Option<Header>,
        allowance: Allowance,
        found: Option<Problem>,
    }

    impl Take for Find {
        fn take<'de, D: Deserializer<'de>>(
            &mut self,
            path: usize,
            element: D,
        ) -> Result<(), D::Error> {
            if path == 0 {
                self.header = Some(Header::deserialize(element)?);
                return refuse(&mut self.found, Err(Problem::Stopped));
            }
            IgnoredAny::deserialize(element)?;
            self.allowance.renew();
            Ok(())
        }

        fn problem(&mut self) -> Option<Problem> {
            self.found.take()
        }
    }

    let allowance = Allowance::of(MAX_SAMPLE_BYTES);
    // The reader of the samples counts what is not valid JSON.
    let text = allowance.on(LenientJson::new(text(&source.path)?, LeftOut::default()));
    let mut find = Find { header: None, allowance, found: None };
    let _ = walk(text, PATHS, &mut find, "the log");
    Ok(find.header)
}
