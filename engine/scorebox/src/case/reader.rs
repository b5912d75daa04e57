//! Reads cases from sources, one after the other, with one line in memory. The caller decides whether a bad case ends a
//! run.

#[cfg(feature = "store")]
use std::io::BufReader;
use std::{io, sync::Arc, vec};

use crate::advice::{Advice, Conversion, Form};

use super::{
    decode::{Buffered, Decoded, NotDecoded, Unread, decode, unread_inside},
    error::{BadCase, BadCaseReason, Location, ReadError},
    fault::Fault,
    lines::{Line, read_line, skip_line},
    mapping::Mapping,
    record::Case,
    row::{in_row, marked},
    source::{NO_CASE, Source, Tally},
    source_error::{Compression, SourceError},
    stop::StopSign,
    unmatched_rules::UnmatchedRules,
};
#[cfg(feature = "store")]
use super::{follow::Follow, source::Counted};

/// The default for the longest line that is read, in bytes: 64 MiB.
pub const DEFAULT_MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// The most blank lines in a row before reading ends. A few kilobytes of compressed data may contain a billion of them,
/// and a caller that waits for a case would not know why none comes.
const MAX_BLANK_LINES: u64 = 1_000_000;
/// The most bytes of blank lines in a row before reading ends: 1 GiB, because a blank line may be long.
const MAX_BLANK_BYTES: u64 = 1 << 30;

/// The byte order mark that some editors put at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The cases of some sources, in order.
///
/// After a [`ReadError::BadCase`] the next call continues with the next line; after a
/// [`ReadError::Source`] there is nothing more.
#[derive(Debug)]
pub struct CaseReader {
    sources: vec::IntoIter<Source>,
    /// A file that is followed after all sources, without an end.
    #[cfg(feature = "store")]
    follow: Option<Arc<Follow>>,
    current: Option<Open>,
    mapping: Mapping,
    unmatched: UnmatchedRules,
    /// Whether a rule has found nothing so far.
    is_any_unmatched: bool,
    max_line_bytes: usize,
    buffer: Vec<u8>,
    count: u64,
    tally: Arc<Tally>,
    total_bytes: Option<u64>,
    stop: StopSign,
}

/// The source that is being read.
struct Open {
    text: Box<dyn Buffered>,
    compression: Compression,
    name: Arc<str>,
    /// Whether a line may state why there is no case.
    gives_reasons: bool,
    is_stdin: bool,
    line: u64,
    /// Whether the line that was read last was too long, and is read to its end before the next.
    is_within_line: bool,
    blank: Blank,
    /// Whether a line was not blank.
    has_cases: bool,
}

/// The blank lines since the last line that was not blank.
#[derive(Default)]
struct Blank {
    lines: u64,
    bytes: u64,
}

impl Blank {
    /// Counts a blank line of this size; returns whether there are too many now.
    fn add(&mut self, bytes: usize) -> bool {
        self.lines += 1;
        self.bytes = self.bytes.saturating_add(bytes as u64);
        self.lines > MAX_BLANK_LINES || self.bytes > MAX_BLANK_BYTES
    }
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.name, self.line)
    }
}

impl CaseReader {
    /// Prepares to read `sources`, one after the other, by the rules of `mapping`. It checks that every file can be
    /// opened and is not empty, so that a missing or an empty file is reported before the first case; each file is
    /// opened for reading when its turn comes.
    ///
    /// # Errors
    /// A path does not exist, is a folder, cannot be read or is empty, or standard input is named twice.
    pub fn open(sources: Vec<Source>, mapping: Mapping) -> Result<CaseReader, SourceError> {
        if sources.iter().filter(|source| source.is_stdin()).count() > 1 {
            return Err(SourceError::StdinTwice);
        }
        let sizes: Vec<Option<u64>> =
            sources.iter().map(Source::check).collect::<Result<_, _>>()?;
        Ok(CaseReader {
            sources: sources.into_iter(),
            #[cfg(feature = "store")]
            follow: None,
            current: None,
            unmatched: UnmatchedRules::of(&mapping),
            is_any_unmatched: !mapping.is_empty(),
            mapping,
            max_line_bytes: DEFAULT_MAX_LINE_BYTES,
            buffer: Vec::new(),
            count: 0,
            tally: Arc::default(),
            total_bytes: sizes.into_iter().sum(),
            stop: StopSign::default(),
        })
    }

    /// Prepares to read a file that grows, without an end. Its first line has the ordinal at which reading continues,
    /// or `ordinal` if it is read from its beginning.
    #[cfg(feature = "store")]
    pub fn follow(follow: Arc<Follow>, mapping: Mapping, ordinal: u64) -> CaseReader {
        CaseReader {
            sources: Vec::new().into_iter(),
            count: follow.continues_at().unwrap_or(ordinal),
            follow: Some(follow),
            current: None,
            unmatched: UnmatchedRules::of(&mapping),
            is_any_unmatched: !mapping.is_empty(),
            mapping,
            max_line_bytes: DEFAULT_MAX_LINE_BYTES,
            buffer: Vec::new(),
            tally: Arc::default(),
            total_bytes: None,
            stop: StopSign::default(),
        }
    }

    /// The same reader with lines of at most `bytes`, not counting their end, and never more than 4 GiB. It uses at
    /// most some four times that much memory (ten times for a line with only short keys), and for zstd a window of at
    /// most 128 MiB.
    #[must_use]
    pub fn with_max_line_bytes(mut self, bytes: usize) -> CaseReader {
        self.max_line_bytes = bytes.min(u32::MAX as usize);
        self
    }

    /// Ends reading when `stop` returns true: the next item is then a [`ReadError::Source`]. It is called before every
    /// piece that is read, and every 100 ms while standard input or a pipe has no data. On Windows, and for
    /// [`Source::reader`], it is not called while there is no data.
    pub fn stop_when(&mut self, stop: impl Fn() -> bool + Send + Sync + 'static) {
        self.stop = StopSign::new(stop);
    }

    /// The rules of the mapping that found nothing in any case so far.
    pub fn unmatched_rules(&self) -> UnmatchedRules {
        self.unmatched.clone()
    }

    /// How many cases were read so far: non-blank lines, including bad ones.
    pub fn cases_read(&self) -> u64 {
        self.count
    }

    /// Whether the next line that is not blank is in memory already, so that reading it does not wait.
    pub fn is_next_line_buffered(&self) -> bool {
        let Some(open) = &self.current else { return false };
        let lines = open.text.buffered().split_inclusive(|byte| *byte == b'\n');
        let mut lines = lines.skip(usize::from(open.is_within_line));
        let next = lines.find(|line| !line.trim_ascii().is_empty());
        next.is_some_and(|line| line.ends_with(b"\n"))
    }

    /// The running counts of what was read.
    #[cfg(feature = "store")]
    pub(crate) fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.tally)
    }

    /// How many bytes were read from the sources so far, before decompression; up to 128 KiB ahead of the last case.
    pub fn bytes_read(&self) -> u64 {
        self.tally.bytes()
    }

    /// The total size of the sources in bytes, before decompression; `None` if one is not a regular file.
    pub fn total_bytes(&self) -> Option<u64> {
        self.total_bytes
    }

    /// The next case, or why it cannot be read; `None` at the end.
    pub fn next_case(&mut self) -> Option<Result<Case, ReadError>> {
        let next = self.advance();
        if let (Some(Ok(case)), true) = (&next, self.is_any_unmatched) {
            self.is_any_unmatched = self.unmatched.note(case);
        }
        if let Some(Err(ReadError::Source(_))) = next {
            self.sources = Vec::new().into_iter();
            self.current = None;
            #[cfg(feature = "store")]
            {
                self.follow = None;
            }
        }
        next
    }

    /// The next source.
    fn open_next(&mut self) -> Option<Result<Open, SourceError>> {
        if let Some(source) = self.sources.next() {
            return Some(open(source, &self.tally, &self.stop));
        }
        #[cfg(feature = "store")]
        if let Some(follow) = &self.follow {
            let (name, line) = (follow.name().into(), follow.next_line());
            let file = follow.next_file(self.count, self.stop.clone());
            let file = Counted::new(file, Arc::clone(&self.tally), self.stop.clone());
            let text = Box::new(BufReader::with_capacity(128 << 10, file));
            let (compression, blank) = (Compression::None, Blank::default());
            // It may have no cases yet, but get some later.
            let (gives_reasons, has_cases) = (false, true);
            return Some(Ok(Open {
                text,
                compression,
                name,
                gives_reasons,
                is_stdin: false,
                line,
                is_within_line: false,
                blank,
                has_cases,
            }));
        }
        None
    }

    /// Advances to the next line that is not blank, across the ends of sources.
    fn advance(&mut self) -> Option<Result<Case, ReadError>> {
        loop {
            let mut current = match self.current.take() {
                Some(current) => current,
                None => match self.open_next()? {
                    Ok(opened) => opened,
                    Err(error) => return Some(Err(error.into())),
                },
            };
            // Only now: nobody need want to read on.
            let skipped = match std::mem::take(&mut current.is_within_line) {
                true => skip_line(&mut *current.text),
                false => Ok(()),
            };
            let read = skipped.and_then(|()| {
                read_line(&mut *current.text, self.max_line_bytes, &mut self.buffer)
            });
            match read {
                Err(error) => return Some(Err(failure(&current, &self.tally, error).into())),
                Ok(Line::End) if !current.has_cases => return Some(Err(empty(&current).into())),
                Ok(Line::End) => continue,
                Ok(_) if let Some(unread) = inside(&current, &self.buffer) => {
                    return Some(Err(unread.of(current.name.to_string()).into()));
                }
                Ok(found) => {
                    current.line += 1;
                    current.is_within_line = found == Line::TooLong { ended: false };
                    let location = Location { source: current.name.clone(), line: current.line };
                    let is_first_of_stdin = current.is_stdin && !current.has_cases;
                    let case = self.take_up(&found, location, current.gives_reasons).map(|case| {
                        case.map_err(|bad| if is_first_of_stdin { not_lines(bad) } else { bad })
                    });
                    if case.is_some() {
                        current.blank = Blank::default();
                        current.has_cases = true;
                    } else if current.blank.add(self.buffer.len()) {
                        return Some(Err(nothing_but_blank(&current).into()));
                    }
                    self.current = Some(current);
                    if let Some(case) = case {
                        return Some(case.map_err(ReadError::from));
                    }
                }
            }
        }
    }

    /// The case in the line in the buffer; `None` if the line is blank.
    fn take_up(
        &mut self,
        found: &Line,
        location: Location,
        gives_reasons: bool,
    ) -> Option<Result<Case, BadCase>> {
        let mut bytes = self.buffer.as_slice();
        if location.line == 1 {
            bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        }
        if *found == Line::Whole && bytes.trim_ascii().is_empty() {
            return None;
        }
        let ordinal = self.count;
        self.count += 1;
        let Some(row) = marked(bytes).filter(|_| gives_reasons) else {
            return Some(self.case_of(found, bytes, ordinal, location, gives_reasons));
        };
        let number = location.line;
        let location = Location { line: row.line.unwrap_or(number), ..location };
        let case = self.case_of(found, row.rest, ordinal, location, gives_reasons);
        Some(case.map_err(|bad| in_row(bad, row.rest, number, row.line)))
    }

    /// The case in a line.
    fn case_of(
        &self,
        found: &Line,
        bytes: &[u8],
        ordinal: u64,
        location: Location,
        gives_reasons: bool,
    ) -> Result<Case, BadCase> {
        if matches!(found, Line::TooLong { .. }) {
            let fault = too_long(self.max_line_bytes);
            return Err(fault.into_bad_case(b"", &location, ordinal));
        }
        match std::str::from_utf8(bytes) {
            Ok(line) => match line.strip_prefix(NO_CASE).filter(|_| gives_reasons) {
                Some(why) => {
                    let reason = BadCaseReason::NoCase { why: why.to_owned() };
                    Err(BadCase::new(location, ordinal, reason))
                }
                None => Case::parse(line, ordinal, &self.mapping, location),
            },
            Err(error) => {
                let offset = Some(error.valid_up_to());
                let fault = Fault { offset, ..Fault::whole(BadCaseReason::NotUtf8) }
                    .with_advice(Advice::Convert(Conversion::ToUtf8));
                Err(fault.into_bad_case(bytes, &location, ordinal))
            }
        }
    }
}

impl Iterator for CaseReader {
    type Item = Result<Case, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_case()
    }
}

/// The first line of standard input, which may be of a format that only files are read in.
fn not_lines(mut bad: BadCase) -> BadCase {
    if bad.advice.is_none() && matches!(bad.reason, BadCaseReason::NotJson { .. }) {
        bad.advice = Some(Box::new(Advice::Write(Form::CasesOnStandardInput)));
    }
    bad
}

/// The fault of a line of more than `limit` bytes.
fn too_long(limit: usize) -> Fault {
    Fault::whole(BadCaseReason::LineTooLong { limit }).with_advice(Advice::Write(Form::LineEnds))
}

/// Opens `source` for reading lines.
fn open(source: Source, tally: &Arc<Tally>, stop: &StopSign) -> Result<Open, SourceError> {
    let (name, gives_reasons, is_stdin) =
        (source.name(), source.gives_reasons(), source.is_stdin());
    match decode(source.open(Arc::clone(tally), stop.clone())?) {
        Ok(Decoded { text, compression }) => {
            let (name, blank) = (name.into(), Blank::default());
            let (line, has_cases, is_within_line) = (0, false, false);
            Ok(Open {
                text,
                compression,
                name,
                gives_reasons,
                is_stdin,
                line,
                is_within_line,
                blank,
                has_cases,
            })
        }
        Err(NotDecoded::Unread(unread)) => Err(unread.of(name)),
        Err(NotDecoded::Failed(error)) => Err(SourceError::Read { name, line: 0, error }),
    }
}

/// The format of the compressed data of `current`, if its first line, which was just read, shows that it is not
/// supported.
fn inside(current: &Open, line: &[u8]) -> Option<Unread> {
    let is_first = current.line == 0 && current.compression != Compression::None;
    is_first.then(|| unread_inside(line)).flatten()
}

/// The error of a source that ends without a case.
fn empty(current: &Open) -> SourceError {
    SourceError::Empty { name: current.name.to_string() }
}

/// The error with the range of blank lines that ends the reading of `current`.
fn nothing_but_blank(current: &Open) -> SourceError {
    let first = current.line.saturating_sub(current.blank.lines) + 1;
    SourceError::OnlyBlank { name: current.name.to_string(), first, last: current.line }
}

/// The error of the source for `error`, which came from reading a line of `current`.
fn failure(current: &Open, tally: &Tally, error: io::Error) -> SourceError {
    // The error about the content of a followed file is complete.
    let error = match error.downcast::<SourceError>() {
        Ok(whole) => return whole,
        Err(error) => error,
    };
    let Open { compression, line, .. } = *current;
    if compression == Compression::None || tally.failed() {
        return SourceError::Read { name: current.name.to_string(), line, error };
    }
    SourceError::decoding(&current.name, compression, line, &error)
}
