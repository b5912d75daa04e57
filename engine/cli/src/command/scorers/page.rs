//! The page docs/scorers.md: every built-in scorer in full, from what the components report about themselves. It scores
//! nothing.

use crate::report::{self, Choice};

use super::Entry;
use crate::output::Out;

pub(super) fn write(out: &mut Out<'_>, entries: &[Entry]) -> std::io::Result<()> {
    writeln!(out, "# Built-in scorers\n")?;
    writeln!(
        out,
        "Written by `scorebox scorers --format markdown` from what the components say about themselves; a \
         test\nkeeps it current. `scorebox scorers NAME` shows one, `scorebox scorers --search TEXT` finds \
         some,\n`scorebox scorers NAME --example` scores its example. A suite can set another severity and \
         threshold, see [verdicts](suite.md#verdicts).\n"
    )?;
    writeln!(out, "| scorer | reads | what it scores |\n|---|---|---|")?;
    for entry in entries {
        let Entry { scorer_id, reads_keys, .. } = entry;
        writeln!(out, "| [`{scorer_id}`](#{scorer_id}) | {reads_keys} | {} |", cell(entry.gist()))?;
    }
    entries.iter().try_for_each(|entry| {
        writeln!(out)?;
        section(out, entry)
    })
}

/// Writes the section of one scorer.
pub(super) fn section(out: &mut Out<'_>, entry: &Entry) -> std::io::Result<()> {
    writeln!(out, "## {}\n", entry.scorer_id)?;
    writeln!(out, "{}\n", report::printable(&entry.description))?;
    writeln!(out, "Scale: {}. Severity: {}.", entry.scale_words, entry.severity_words)?;
    let keys = entry.config_keys();
    if !keys.is_empty() {
        writeln!(out, "\n| configuration | value | default | meaning |\n|---|---|---|---|")?;
        for key in keys {
            let default = match key.default.as_str() {
                "" | "required" => key.default.clone(),
                default => format!("`{default}`"),
            };
            row(out, [format!("`{}`", key.name), key.kind, default, key.description])?;
            for Choice { value, meaning } in key.choices {
                row(out, [String::new(), format!("`{value}`"), String::new(), meaning])?;
            }
        }
    }
    let Some(example) = &entry.example else { return Ok(()) };
    let config = serde_json::to_string(&example.config)?;
    let score = example.score.map_or_else(|| "not applicable".into(), report::score);
    writeln!(out, "\n```\ncase    {}\nconfig  {config}\nscore   {score}\n```", example.case.get())
}

fn row(out: &mut Out<'_>, cells: [String; 4]) -> std::io::Result<()> {
    writeln!(out, "| {} |", cells.map(|text| cell(&text)).join(" | "))
}

fn cell(text: &str) -> String {
    report::printable(text).replace('|', "\\|").replace('\n', " ")
}
