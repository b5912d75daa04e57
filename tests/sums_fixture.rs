//! A small suite with a gate and a soft scorer, and cases of every outcome, for the tests of reports and pages.

use crate::fixture::Folder;

/// A case that regresses, one without a score, and one that asks not to be judged.
pub(crate) const OTHERS: &str = r#"{"id": "slow", "output": "4", "groundTruth": "4", "latencyMs": 900, "attempt": 2}
{"id": "broken", "output": "4", "latencyMs": 100}
{"id": "left", "output": "4", "groundTruth": "4", "latencyMs": 100, "skip": "flaky"}
"#;

/// A case that passes, three that fail the gate (one with an attacker's text, one by an agent), and the others.
pub(crate) fn cases() -> String {
    let first = r#"{"id": "good", "input": "What is 2 + 2?", "output": "4", "groundTruth": "4", "latencyMs": 100}
{"id": "wrong", "nodeId": "geography", "input": "Capital?", "output": "It is Lyon,\nin the south.", "groundTruth": "It is Paris,\nin the south.", "latencyMs": 100}
"#;
    let last = r#"{"id": "</title><script>document.title='owned'</script>\u202etxt", "nodeId": "<img src=x onerror=\"document.title='owned'\">", "input": "</pre><img src=x onerror=\"document.title='owned'\">", "output": "<a href=\"javascript:document.title='owned'\">\u202e evil \u0000 <svg onload=\"document.title='owned'\"><style>body{display:none}</style>", "groundTruth": "x", "latencyMs": 100}
{"id": "agent", "input": "Cancel it.", "output": "Too late.", "groundTruth": "Done.", "latencyMs": 100, "trace": [{"role": "user", "content": "Cancel it."}, {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "cancel", "arguments": "{\"order\": 7}"}}]}, {"role": "tool", "tool_call_id": "1", "content": "Error: too late"}, {"role": "assistant", "content": "Too late."}]}
"#;
    [first, OTHERS, last].concat()
}

/// The suite with this name, which is written in quotation marks.
pub(crate) fn suite(name: &str) -> String {
    format!(
        r#"name = "{name}"
[scorers.right]
use = "exact-match"
severity = "gate"
weight = 3
[scorers.fast]
use = "latency"
config = {{ targetMs = 0, maxMs = 1000 }}
threshold = 0.5
"#
    )
}

/// A folder with the run `r` of a suite whose name is markup.
pub(crate) fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("cases.jsonl", cases());
    folder.write("suite.toml", suite("sums <i>and</i> more"));
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r").exits_with(3);
    folder
}
