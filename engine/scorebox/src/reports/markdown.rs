//! Writes a summary in GitHub's Markdown: whether the run passed, its scorers, and the first cases that did not pass.
//! Foreign text is escaped, so that it has no effect as Markdown.

use std::{fmt::Write as _, io};

use crate::{
    aggregate::{
        Aggregate, DecidedRun, Decisive, Repeats, VerdictOptions, add_intervals, aggregate,
        repeated_verdicts,
    },
    cut::cut,
    stats::Tries,
    store::{RunRecord, RunState, ScoreFilter, ScorerRecord, Store, SummaryRecord},
    terminal::{characters, indented_json, is_space, visible_json},
    verdict::{Verdict, figure, mean_beside, percent, percent_interval, score_beside},
};

use super::{
    ReportError, ReportOptions,
    cases::{ReportedCase, for_each_case},
    skipped_lines, suite_name, unfinished,
};

/// How many cases are listed: programs limit the size of a summary (GitHub: 1 MiB).
const MAX_CASES: u64 = 100;
/// How many bytes of a case's id and of a reason are shown.
const MAX_NAME_BYTES: usize = 120;
const MAX_REASON_BYTES: usize = 300;
/// How many bytes of a scorer's summary are shown.
const MAX_SUMMARY_BYTES: usize = 16 << 10;
/// The maximum size of the table of cases in bytes: together with the rest it stays below GitHub's 1 MiB.
const MAX_TABLE_BYTES: usize = 900 << 10;
/// Thresholds of at least this size have an exponent.
const HUGE: f64 = 1e15;
/// How many assertions of a score are listed.
const MAX_ASSERTIONS: usize = 5;

/// The least number of digits with which GitHub links a commit.
const LEAST_COMMIT: usize = 7;
const MAX_COMMIT: usize = 40;

pub(super) fn write(
    store: &Store,
    options: ReportOptions<'_>,
    out: &mut dyn io::Write,
) -> Result<(), ReportError> {
    let run = store.run(options.run)?;
    let filter = ScoreFilter { run: Some(options.run.to_owned()), ..ScoreFilter::default() };
    let mut aggregates = aggregate(store, &filter)?;
    if options.intervals {
        add_intervals(store, options.run, None, &mut aggregates)?;
    }
    let (mut table, mut listed, mut bad) = (String::new(), 0, 0);
    let decided = for_each_case(store, options, |case| {
        if matches!(case.decided.verdict.verdict, Verdict::Failed | Verdict::Errored) {
            bad += 1;
            if bad <= MAX_CASES && listed + 1 == bad {
                let line = line_of(case);
                if table.len() + line.len() <= MAX_TABLE_BYTES {
                    table.push_str(&line);
                    listed += 1;
                }
            }
        }
        Ok(())
    })?;
    out.write_all(heading(&run, &decided).as_bytes())?;
    if options.strict {
        out.write_all(b"Soft scorers with a threshold count as gates.\n\n")?;
    }
    for requirement in options.unseen() {
        let why = escaped(&requirement.to_string(), MAX_REASON_BYTES);
        out.write_all(format!("**A requirement does not hold**: {why}\n\n").as_bytes())?;
    }
    let stored = store.scorers(run.key)?;
    writeln!(out, "{}", scorers(&aggregates, &stored, &decided, options.intervals))?;
    for (scorer_id, why) in options.idle(&decided) {
        let name = escaped(scorer_id, MAX_NAME_BYTES);
        writeln!(out, "**{name}**, which can fail a case: {why}\n")?;
    }
    for summary in store.summaries(run.key)? {
        writeln!(out, "{}", of_the_run(&summary, run.state))?;
    }
    let asked = VerdictOptions { node: None, strict: options.strict };
    if let Some(repeats) = repeated_verdicts(store, options.run, asked)?
        && let Some(tries) = &repeats.verdict
    {
        writeln!(out, "{}", attempts(&repeats, tries))?;
    }
    if bad > 0 {
        out.write_all(b"### Cases that did not pass\n\n")?;
        out.write_all(b"| case | verdict | score | decided by |\n|---|---|--:|---|\n")?;
        out.write_all(table.as_bytes())?;
        out.write_all(b"\n")?;
        if bad > listed {
            writeln!(out, "These are the first {listed} of {bad}.\n")?;
        }
    }
    let root = run.root.map_or_else(String::new, |root| format!(", root `{root}`"));
    Ok(writeln!(out, "Run `{}`{root}", run.spec.id)?)
}

/// The verdict; for a run that has not finished, also its state, the reason, and which lines are missing.
fn heading(run: &RunRecord, decided: &DecidedRun) -> String {
    let state = match run.state {
        RunState::Finished => String::new(),
        state => format!("{}; ", state.as_str()),
    };
    let name = escaped(suite_name(run), MAX_NAME_BYTES);
    let why = unfinished(run).map_or_else(String::new, |why| {
        let why = escaped(&why, MAX_REASON_BYTES);
        format!("**This is not the whole run**: {why}\n\n")
    });
    let skipped = skipped_lines(run)
        .map_or_else(String::new, |skipped| format!("**Not in this report**: {skipped}\n\n"));
    format!("## {name}: {state}{}\n\n{why}{skipped}", verdict_of(decided))
}

/// `168 of 400 cases passed (42.0 %, …)`.
fn verdict_of(decided: &DecidedRun) -> String {
    let verdict = &decided.verdict;
    let cases = verdict.judged();
    if !decided.decides {
        let mut text = format!("{cases} cases, of which no scorer decides whether they pass");
        if verdict.regressed > 0 {
            let _ = write!(text, ", {} with regressions", verdict.regressed);
        }
        if let Some(incomplete) = verdict.incomplete_in_words() {
            let _ = write!(text, ", {incomplete}");
        }
        return text;
    }
    let mut text = format!("{} of {cases} cases passed", verdict.passed);
    if let Some(rate) = verdict.pass_rate {
        let _ = write!(
            text,
            " ({}; 95 % interval {})",
            percent(rate.rate),
            percent_interval(rate.rate, rate.low, rate.high)
        );
    }
    for (count, word) in [
        (verdict.failed - verdict.failed_incomplete, "failed"),
        (verdict.errored - verdict.errored_incomplete, "errored"),
        (verdict.regressed, "passed with regressions"),
        (verdict.skipped, "skipped"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {word}");
        }
    }
    if let Some(incomplete) = verdict.incomplete_in_words() {
        let _ = write!(text, ", {incomplete}");
    }
    text
}

fn scorers(
    aggregates: &[Aggregate],
    stored: &[ScorerRecord],
    decided: &DecidedRun,
    has_intervals: bool,
) -> String {
    let (title, line) = if has_intervals { (" 95 % interval |", "--:|") } else { ("", "") };
    let mut table = format!(
        "| scorer | counts as | scored | n/a | skipped | errors | mean |{title} min | max | failed | regressed |\n\
         |---|---|--:|--:|--:|--:|--:|{line}--:|--:|--:|--:|\n",
    );
    for aggregate in aggregates {
        let decided = decided.scorers.iter().find(|it| it.scorer_id == aggregate.scorer_id);
        let mut counts_as = decided.map_or_else(String::new, |it| match it.threshold {
            Some(threshold) => format!("{}, threshold {}", it.severity.as_str(), limit(threshold)),
            None => it.severity.as_str().to_owned(),
        });
        let stored = stored.iter().find(|it| it.spec.scorer_id == aggregate.scorer_id);
        if let Some(on) = stored.and_then(|it| it.spec.output_from.as_ref()) {
            let _ = write!(counts_as, ", on {}", escaped(on, MAX_NAME_BYTES));
        }
        let threshold = decided.and_then(|it| it.threshold);
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let end = |value: Option<f64>| or_none(value.map(|it| score_beside(it, threshold)));
        let interval = match aggregate.interval {
            _ if !has_intervals => String::new(),
            Some(it) => format!(" {} to {} |", figure(it.low), figure(it.high)),
            None => " - |".to_owned(),
        };
        let _ = writeln!(
            table,
            "| {} | {counts_as} | {} | {} | {} | {} | {} |{interval} {} | {} | {} | {} |",
            escaped(&aggregate.scorer_id, MAX_NAME_BYTES),
            aggregate.count,
            aggregate.not_applicable,
            aggregate.skipped,
            aggregate.errors,
            or_none(aggregate.mean.map(|it| mean_beside(it, threshold))),
            end(aggregate.min),
            end(aggregate.max),
            decided.map_or(0, |it| it.failed),
            decided.map_or(0, |it| it.regressed),
        );
    }
    table
}

/// A scorer's summary of all cases, or of those that are stored so far. Nothing in lines of JSON can end the block.
fn of_the_run(record: &SummaryRecord, state: RunState) -> String {
    let name = escaped(&record.scorer_id, MAX_NAME_BYTES);
    let so_far = if state == RunState::Finished { "" } else { " so far" };
    let title = format!("### {name} of the run{so_far}");
    match &record.summary_json {
        Some(json) => match indented_json(json) {
            Some(lines) => {
                let lines = visible_json(&lines);
                let lines = cut(&lines, MAX_SUMMARY_BYTES);
                format!("{title}\n\n```json\n{lines}\n```\n")
            }
            None => format!("{title}\n\n{}\n", escaped(json, MAX_SUMMARY_BYTES)),
        },
        None => {
            let kind = record.error_kind.as_deref().unwrap_or_default();
            let message = record.error_message.as_deref().unwrap_or_default();
            let why = escaped(&format!("{kind}: {message}"), MAX_REASON_BYTES);
            format!("{title}\n\nAn error: {why}\n")
        }
    }
}

/// A threshold in full, unless it has hundreds of digits.
fn limit(threshold: f64) -> String {
    if threshold.abs() < HUGE { threshold.to_string() } else { format!("{threshold:e}") }
}

/// The figures over the attempts at the cases, a line for each number of attempts.
fn attempts(repeats: &Repeats, tries: &Tries) -> String {
    let mut table = format!(
        "### Repeats: {} cases, {} attempts\n\n| k | pass@k | pass^k | at least k |\n|--:|--:|--:|--:|\n",
        repeats.cases, repeats.attempts
    );
    let figure =
        |value: Option<f64>| value.map_or_else(|| "undefined".to_owned(), |it| format!("{it:.4}"));
    for draw in &tries.draws {
        let [one, all, enough] = [draw.pass_at_k, draw.pass_hat_k, draw.at_least_k].map(figure);
        let _ = writeln!(table, "| {} | {one} | {all} | {enough} |", draw.k);
    }
    table
}

/// The name of the case, cut if its id is long.
fn name_of(reported: &ReportedCase<'_>) -> String {
    let id = escaped(&reported.decided.case.case_id, MAX_NAME_BYTES);
    reported.which_attempt().map_or_else(|| id.clone(), |which| format!("{id} {which}"))
}

/// A line of the table of cases.
fn line_of(reported: &ReportedCase<'_>) -> String {
    let verdict = reported.decided.verdict;
    let decided: Vec<String> = reported
        .decisive()
        .map(|(against, record)| {
            let answer = record.map(|record| &record.row.answer);
            let error = answer.and_then(|answer| answer.error.as_ref());
            let said = match error {
                Some(error) => Some(format!("{}: {}", error.kind, error.message)),
                None => answer.and_then(|answer| answer.reason.clone()),
            };
            let score = against.score.map_or_else(String::new, |score| {
                format!(" {}", score_beside(score, against.threshold))
            });
            let said = said
                .map_or_else(String::new, |said| format!(": {}", escaped(&said, MAX_REASON_BYTES)));
            let mut line = format!("{}{score}{said}", escaped(against.scorer_id, MAX_NAME_BYTES));
            for Decisive { name, score, threshold, reason, .. } in
                against.assertions.iter().take(MAX_ASSERTIONS)
            {
                let name = escaped(name, MAX_NAME_BYTES);
                let score = score_beside(*score, *threshold);
                let _ = write!(line, "<br>assertion {name} {score}, threshold {threshold}");
                if let Some(reason) = reason {
                    let _ = write!(line, ": {}", escaped(reason, MAX_REASON_BYTES));
                }
            }
            let more = against.assertions.len().saturating_sub(MAX_ASSERTIONS);
            if more > 0 {
                let _ = write!(line, "<br>and {more} more");
            }
            line
        })
        .collect();
    format!(
        "| {} | {} | {} | {} |\n",
        name_of(reported),
        verdict.verdict.as_str(),
        verdict.score.map_or_else(|| "-".to_owned(), |score| format!("{score:.4}")),
        decided.join("<br>")
    )
}

/// A text of at most this many bytes in one line, in which no character has a meaning in Markdown or HTML, and each is
/// visible.
fn escaped(text: &str, max_bytes: usize) -> String {
    let text = cut(text, max_bytes);
    let mut escaped = String::with_capacity(text.len());
    let (mut at, mut commit) = (0, 0..0);
    for (character, is_seen) in characters(&text) {
        if let Some(length) = commit_at(&text, at) {
            commit = at..at + length;
        } else if commit.contains(&at) && (at - commit.start).is_multiple_of(LEAST_COMMIT - 1) {
            escaped.push('\u{200b}');
        }
        at += character.len_utf8();
        // A character before a number that would make it an issue or a merge request.
        let is_reference =
            matches!(character, '#' | '!') || character == '-' && ends_with(&escaped, b"gh");
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // After a zero-width space it mentions nobody.
            '@' => escaped.push_str("@\u{200b}"),
            // This keeps an address without a scheme from becoming a link, too.
            '.' if ends_with(&escaped, b"www") => escaped.push_str("\u{200b}."),
            // In a separate element it does not begin a formula on GitHub, and after a backslash it does not on GitLab.
            '$' => escaped.push_str("<span>\\$</span>"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '|' | '#' | '~' | '!' | ':' => {
                escaped.push('\\');
                escaped.push(character);
            }
            character if is_space(character) => escaped.push(' '),
            character if !is_seen => {
                escaped.push('\\');
                escaped.extend(character.escape_unicode());
            }
            character => escaped.push(character),
        }
        if is_reference && text[at..].starts_with(|next: char| next.is_ascii_digit()) {
            escaped.push('\u{200b}');
        }
    }
    escaped
}

fn ends_with(text: &str, end: &[u8]) -> bool {
    let begin = text.len().checked_sub(end.len());
    begin.is_some_and(|begin| text.as_bytes()[begin..].eq_ignore_ascii_case(end))
}

/// The length of text that GitHub would take for a commit's digest, if it begins here: hexadecimal digits that stand
/// alone.
fn commit_at(text: &str, at: usize) -> Option<usize> {
    let is_apart = !text[..at].ends_with(char::is_alphanumeric);
    let behind = text[at..].find(|it: char| !it.is_ascii_hexdigit());
    let length = behind.unwrap_or(text.len() - at);
    let ends = !text[at + length..].starts_with(char::is_alphanumeric);
    (is_apart && ends && (LEAST_COMMIT..=MAX_COMMIT).contains(&length)).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_makes_no_link_and_no_formula() {
        assert_eq!(escaped("https://a.b www.a.b", 99), "https\\://a.b www\u{200b}.a.b");
        assert_eq!(escaped("WWW.a", 99), "WWW\u{200b}.a");
        assert_eq!(escaped("ww.a 1.5", 99), "ww.a 1.5");
        assert_eq!(escaped("$x^2$", 99), "<span>\\$</span>x^2<span>\\$</span>");
    }

    #[test]
    fn a_text_names_no_issue_and_no_commit() {
        let shown = |text: &str| escaped(text, 999).replace('\u{200b}', "~");
        assert_eq!(shown("see #1, o/r#12, GH-7 and gh-8"), r"see \#~1, o/r\#~12, GH-~7 and gh-~8");
        assert_eq!(shown("!3 # 1 #a GH- 7 GH-x"), r"\!~3 \# 1 \#a GH- 7 GH-x");
        // No part between two zero-width spaces is long enough for a link.
        assert_eq!(shown("9c1f0e3 9C1F0E3bcd012."), "9c1f0e~3 9C1F0E~3bcd01~2.");
        for text in ["9c1f0e", "x9c1f0e3", "9c1f0e3g", &"a".repeat(41)] {
            assert_eq!(shown(text), *text);
        }
        assert_eq!(shown(&"a".repeat(40)).len(), 46);
        assert_eq!(shown("é#1"), r"é\#~1");
    }

    #[test]
    fn a_threshold_of_hundreds_of_digits_has_an_exponent() {
        let said = [0.5, 1.0, 250_000.0, 1.7e308].map(limit);
        assert_eq!(said, ["0.5", "1", "250000", "1.7e308"]);
    }

    #[test]
    fn what_is_not_seen_is_shown() {
        assert_eq!(escaped("a\u{202e}\u{200b}\u{1b}", 99), r"a\\u{202e}\\u{200b}\\u{1b}");
        assert_eq!(escaped("\u{2764}\u{fe0f}\n", 99), "\u{2764}\u{fe0f} ");
    }
}
