//! The host's state of one instance: memory limiter, log, clocks, capabilities. It exists for one score. What the guest
//! can call is in `imports`.

use wasmtime::ResourceLimiter;

use crate::contract::{LogLevel, LogLine};

use super::{
    Limits,
    capabilities::Granted,
    clock::Clock,
    host_trouble,
    settings::{CORE_INSTANCES, MEMORIES, TABLE_ELEMENTS, TABLES},
    wasi::{Seed, WasiState},
};

/// The size of one table element, in bytes.
const TABLE_ELEMENT_BYTES: usize = 8;

/// The data of a store.
pub(super) struct State {
    pub(super) limiter: Limiter,
    pub(super) log: LogBuffer,
    /// Whether the guest may call the host, when there is no component that prevents it: not while it allocates, and
    /// not after it has answered.
    pub(super) may_call_out: bool,
    /// The clock of the guest's time.
    pub(super) clock: Clock,
    /// What its clocks and random numbers are derived from.
    pub(super) seed: Seed,
    /// The scorer's share of the capabilities.
    pub(super) granted: Granted,
    /// Made when a component first uses WASI.
    wasi: Option<Box<WasiState>>,
    /// If the state that the last call left cannot be continued elsewhere because of WASI: the reason.
    pub(super) kept_of_wasi: Option<&'static str>,
}

impl State {
    pub(super) fn new(limits: &Limits, (seed, clock): (Seed, Clock), granted: Granted) -> State {
        State {
            limiter: Limiter::new(limits.memory_bytes),
            log: LogBuffer::new(limits),
            may_call_out: true,
            clock,
            seed,
            granted,
            wasi: None,
            kept_of_wasi: None,
        }
    }

    /// The instance's WASI, made on first use.
    pub(super) fn wasi(&mut self) -> &mut WasiState {
        self.wasi.get_or_insert_with(|| Box::new(WasiState::new(self.seed)))
    }

    /// Moves what the component printed into its log. That ends its WASI.
    pub(super) fn collect_printed(&mut self) {
        let Some(wasi) = self.wasi.take() else { return };
        self.kept_of_wasi = wasi.keeps();
        for (level, printed) in wasi.printed() {
            for line in String::from_utf8_lossy(&printed).lines() {
                self.log.push(level, line.to_owned());
            }
        }
    }
}

/// Limits the total size of all memories and tables, and the elements of each table. It also remembers a refusal, so
/// that what looks like an ordinary crash of the guest gets the right error.
pub(super) struct Limiter {
    limit: usize,
    used: usize,
    peak: usize,
    refused: Option<usize>,
}

impl Limiter {
    fn new(limit: u64) -> Limiter {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Limiter { limit, used: 0, peak: 0, refused: None }
    }

    /// Starts with this many bytes in use, those of an existing instance, if they are within the limit.
    pub(super) fn begin_with(&mut self, bytes: usize) -> bool {
        self.grow(0, bytes, true)
    }

    /// The bytes in use; memories never shrink.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// The most bytes in use at once.
    pub(super) fn peak_bytes(&self) -> u64 {
        self.peak as u64
    }

    /// The same as [`used`](Limiter::used).
    pub(super) fn used_bytes(&self) -> u64 {
        self.used as u64
    }

    /// The number of bytes that would have been in use if the limit had not refused them.
    pub(super) fn refused_bytes(&self) -> Option<u64> {
        self.refused.map(|bytes| bytes as u64)
    }

    /// Whether this many bytes may be used. Growth that is not `possible` for another reason never counts as use, but
    /// counts as a refusal if it is over the limit too.
    fn grow(&mut self, current: usize, desired: usize, possible: bool) -> bool {
        let wanted = self.used.saturating_add(desired.saturating_sub(current));
        if wanted > self.limit {
            self.refused = Some(wanted);
            return false;
        }
        if !possible {
            return false;
        }
        self.used = wanted;
        self.peak = self.peak.max(wanted);
        true
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(self.grow(current, desired, fits(desired, maximum)))
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let possible = fits(desired, maximum) && desired <= TABLE_ELEMENTS;
        let bytes = |elements: usize| elements.saturating_mul(TABLE_ELEMENT_BYTES);
        Ok(self.grow(bytes(current), bytes(desired), possible))
    }

    /// What was allowed and fails all the same fails for want of the machine's memory. The guest must not see that: it
    /// would decide by it, and score otherwise than elsewhere.
    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        match host_trouble::lacking(&error) {
            Some(_) => Err(error),
            None => Ok(()),
        }
    }

    fn instances(&self) -> usize {
        CORE_INSTANCES as usize
    }

    fn tables(&self) -> usize {
        TABLES as usize
    }

    fn memories(&self) -> usize {
        MEMORIES as usize
    }
}

/// Whether the size is within the maximum that the guest itself declared. Growing further fails whatever the limiter
/// decides.
fn fits(desired: usize, maximum: Option<usize>) -> bool {
    maximum.is_none_or(|maximum| desired <= maximum)
}

/// The messages of one score, within the limits.
#[derive(Default)]
pub(super) struct LogBuffer {
    lines: Vec<LogLine>,
    /// The letters of a message that has not ended yet.
    letters: String,
    bytes: usize,
    /// Whether the end of a message was dropped.
    is_cut: bool,
    dropped: u64,
    most_lines: usize,
    max_bytes: usize,
}

impl LogBuffer {
    pub(super) fn new(limits: &Limits) -> LogBuffer {
        LogBuffer {
            lines: Vec::new(),
            letters: String::new(),
            bytes: 0,
            is_cut: false,
            dropped: 0,
            most_lines: limits.log_lines,
            max_bytes: limits.log_bytes,
        }
    }

    pub(super) fn push(&mut self, level: LogLevel, mut message: String) {
        let room = self.max_bytes.saturating_sub(self.bytes);
        if self.lines.len() >= self.most_lines || room == 0 {
            self.dropped += 1;
            return;
        }
        let kept = message.floor_char_boundary(room);
        self.is_cut |= kept < message.len();
        message.truncate(kept);
        self.bytes += message.len().max(1);
        self.lines.push(LogLine { level, message });
    }

    /// Adds a letter of a message that has not ended yet. Letters that no log has room for are dropped at once, except
    /// the one that shows that there was more.
    pub(super) fn push_letter(&mut self, letter: char) {
        if self.letters.len() <= self.max_bytes {
            self.letters.push(letter);
        }
    }

    pub(super) fn end(&mut self, level: LogLevel) {
        let message = std::mem::take(&mut self.letters);
        self.push(level, message);
    }

    /// The last error that the scorer logged: the whole message of its last panic, if there was one (printed, it has
    /// several lines), without Rust's advice on how to see more, and with only the relevant place from Go's goroutines;
    /// otherwise the last message.
    pub(super) fn last_words(&self) -> Option<String> {
        let errors = self.lines.iter().filter(|line| line.level == LogLevel::Error);
        let errors: Vec<&str> = errors
            .map(|line| line.message.as_str())
            .filter(|message| !message.starts_with("note: run with `RUST_BACKTRACE"))
            .collect();
        if let Some(words) = words_of_go(&errors) {
            return Some(words);
        }
        let panic = errors.iter().rposition(|message| message.contains("panicked at "));
        let words = &errors[panic.unwrap_or(errors.len().saturating_sub(1))..];
        (!words.is_empty()).then(|| words.join("\n"))
    }

    /// The messages; if a message was cut or messages were dropped, a last line reports that and how many.
    pub(super) fn into_lines(mut self) -> Vec<LogLine> {
        let dropped = format!("{} more messages were dropped", self.dropped);
        let lost = match (self.is_cut, self.dropped) {
            (false, 0) => None,
            (true, 0) => Some("a message was cut".to_owned()),
            (false, _) => Some(dropped),
            (true, _) => Some(format!("a message was cut, and {dropped}")),
        };
        if let Some(lost) = lost {
            let message = format!("{lost} (log limit)");
            self.lines.push(LogLine { level: LogLevel::Warn, message });
        }
        self.lines
    }
}

/// The message of Go's runtime when it ends a program, and the first place in the scorer's own package among the
/// goroutines that it lists.
fn words_of_go(errors: &[&str]) -> Option<String> {
    let goroutine = |line: &&str| line.starts_with("goroutine ") && line.ends_with(':');
    let traces = errors.iter().position(goroutine)?;
    let (before, traces) = errors.split_at(traces);
    let ends = |line: &&str| line.starts_with("panic: ") || line.starts_with("fatal error: ");
    let words = &before[before.iter().rposition(ends)?..];
    let mut words: Vec<&str> = words.iter().copied().filter(|line| !line.is_empty()).collect();
    // A frame has a function, and its file on the next line.
    let mut frames = traces.iter().zip(traces.iter().skip(1));
    let own =
        frames.find(|(function, file)| function.starts_with("main.") && file.starts_with('\t'));
    let place = own.map(|(_, file)| file.trim_start().split(" +0x").next().unwrap_or_default());
    let place = place.map(|place| format!("  at {place}"));
    words.extend(place.as_deref());
    Some(words.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_of_go_are_its_panic_and_the_place_in_the_scorers_package() {
        let last_words = |printed: &str| {
            let mut log = LogBuffer::new(&Limits::default());
            printed.lines().for_each(|line| log.push(LogLevel::Error, line.into()));
            log.last_words()
        };
        let panic = "panic: in goroutine\n\ngoroutine 7 [running]:\nmain.score.func1()\n\tmine/main.go:36 +0x147\n\
                     created by main.score in goroutine 1\n\tmine/main.go:35 +0x5";
        let words = "panic: in goroutine\n  at mine/main.go:36";
        assert_eq!(last_words(panic).as_deref(), Some(words));
        let deadlock = "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\n\
                        runtime.gopark(0x1, 0x2)\n\truntime/proc.go:460 +0x16\nmain.score(0x1c0)\n\tmine/main.go:42 +0x1";
        let words = "fatal error: all goroutines are asleep - deadlock!\n  at mine/main.go:42";
        assert_eq!(last_words(deadlock).as_deref(), Some(words));
        let said = "goroutine 7 is done:\nthe last line";
        assert_eq!(last_words(said).as_deref(), Some("the last line"));
    }

    #[test]
    fn the_last_words_are_the_last_panic_or_the_last_error() {
        let last_words = |printed: &[&str]| {
            let mut log = LogBuffer::new(&Limits::default());
            log.push(LogLevel::Info, "fine".into());
            printed.iter().for_each(|line| log.push(LogLevel::Error, (*line).into()));
            log.last_words()
        };
        assert_eq!(last_words(&[]), None);
        assert_eq!(last_words(&["one", "two"]).as_deref(), Some("two"));
        let printed = [
            "started",
            "thread '<unnamed>' panicked at src/lib.rs:3:5:",
            "no such key",
            "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
        ];
        let panic = "thread '<unnamed>' panicked at src/lib.rs:3:5:\nno such key";
        assert_eq!(last_words(&printed).as_deref(), Some(panic));
    }

    #[test]
    fn the_limiter_counts_all_memories_and_tables_together() {
        let mut limiter = Limiter::new(1000);
        assert!(limiter.memory_growing(0, 600, None).unwrap());
        assert!(limiter.table_growing(0, 40, None).unwrap());
        assert!(!limiter.memory_growing(600, 700, None).unwrap());
        assert_eq!(limiter.refused_bytes(), Some(1020));
        assert_eq!(limiter.peak_bytes(), 920);
    }

    #[test]
    fn what_cannot_grow_neither_uses_memory_nor_counts_as_refused() {
        let mut limiter = Limiter::new(10 << 20);
        assert!(limiter.table_growing(0, TABLE_ELEMENTS, None).unwrap());
        let peak = limiter.peak_bytes();
        assert!(!limiter.table_growing(TABLE_ELEMENTS, TABLE_ELEMENTS + 1, None).unwrap());
        assert!(!limiter.table_growing(0, 11, Some(10)).unwrap());
        assert!(!limiter.memory_growing(0, 11, Some(10)).unwrap());
        assert_eq!((limiter.peak_bytes(), limiter.refused_bytes()), (peak, None));
        // Growth that is over the limit as well counts as a refusal.
        assert!(!limiter.memory_growing(0, 11 << 20, Some(10)).unwrap());
        assert!(limiter.refused_bytes().is_some());
    }

    #[test]
    fn letters_are_a_message_once_it_ends_and_take_no_more_room_than_the_log_has() {
        let limits = Limits { log_bytes: 6, ..Limits::default() };
        let mut log = LogBuffer::new(&limits);
        "no".chars().for_each(|letter| log.push_letter(letter));
        assert_eq!(log.last_words(), None);
        log.end(LogLevel::Error);
        assert_eq!(log.last_words().as_deref(), Some("no"));
        (0..1_000_000).for_each(|_| log.push_letter('é'));
        assert!(log.letters.len() <= 8);
        log.end(LogLevel::Info);
        log.end(LogLevel::Info);
        let lines: Vec<String> = log.into_lines().iter().map(ToString::to_string).collect();
        let lost = "warn: a message was cut, and 1 more messages were dropped (log limit)";
        let expected = ["error: no", "info: éé", lost];
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_log_keeps_what_fits_and_counts_the_rest() {
        let limits = Limits { log_lines: 2, log_bytes: 7, ..Limits::default() };
        let mut log = LogBuffer::new(&limits);
        log.push(LogLevel::Error, "first".into());
        log.push(LogLevel::Info, "éééé".into());
        log.push(LogLevel::Info, "third".into());
        assert_eq!(log.last_words().as_deref(), Some("first"));
        let lines: Vec<String> = log.into_lines().iter().map(ToString::to_string).collect();
        let lost = "warn: a message was cut, and 1 more messages were dropped (log limit)";
        assert_eq!(lines, ["error: first", "info: é", lost]);
    }

    #[test]
    fn a_message_that_does_not_fit_is_marked_as_cut() {
        let limits = Limits { log_bytes: 3, ..Limits::default() };
        for (message, expected) in [("abc", None), ("abcd", Some("a message was cut (log limit)"))]
        {
            let mut log = LogBuffer::new(&limits);
            log.push(LogLevel::Info, message.into());
            let mut letters = LogBuffer::new(&limits);
            message.chars().for_each(|letter| letters.push_letter(letter));
            letters.end(LogLevel::Info);
            for lines in [log.into_lines(), letters.into_lines()] {
                assert_eq!(lines[0].message, "abc");
                assert_eq!(lines.get(1).map(|line| &*line.message), expected);
            }
        }
    }
}
