//! What tool names and tool results mean across agents. It changes no name.

use std::borrow::Cow;

use serde_json::Value;

/// How deeply a tool's result is searched for an error or an exit code.
const LEVELS: usize = 3;

/// The keys of a command's exit code in a result.
pub(super) const EXIT_CODES: [&str; 4] = ["exit_code", "exitCode", "returncode", "return_code"];

/// The common words; see [`canonical`].
const COMMON: [&str; 10] = [
    "file_read",
    "file_write",
    "file_edit",
    "shell",
    "web_fetch",
    "web_search",
    "glob",
    "grep",
    "list_dir",
    "agent_task",
];

/// The common word for a tool that agents name differently. The words and most names are niceeval's; the other names
/// are those of Codex, Copilot, OpenHands, Amazon Q, Goose, Inspect and the hosted tools of the Responses API.
pub(super) fn canonical(name: &str) -> Option<&'static str> {
    Some(match name {
        "Read" | "read_file" | "ReadFile" | "file_read" => "file_read",
        "Write" | "write_file" | "WriteFile" | "write_to_file" | "create_file" | "file_write" => {
            "file_write"
        }
        "Edit"
        | "MultiEdit"
        | "edit_file"
        | "EditFile"
        | "str_replace_editor"
        | "StrReplace"
        | "NotebookEdit"
        | "str_replace_based_edit_tool"
        | "apply_patch"
        | "text_editor"
        | "file_edit" => "file_edit",
        "Bash"
        | "bash"
        | "BashOutput"
        | "Shell"
        | "shell"
        | "PowerShell"
        | "powershell"
        | "command_execution"
        | "execute_bash"
        | "execute_command"
        | "run_command"
        | "run_in_terminal"
        | "run_terminal_command"
        | "shell_command"
        | "developer__shell"
        | "bash_session"
        | "local_shell"
        | "exec_command"
        | "container.exec"
        | "run_shell_command"
        | "run_terminal_cmd"
        | "bash_code_execution" => "shell",
        "WebFetch" | "web_fetch" | "fetch_url" | "mcp__fetch__fetch" => "web_fetch",
        "WebSearch" | "web_search" | "google_web_search" => "web_search",
        "Glob" | "glob" | "list_files" => "glob",
        "Grep" | "grep" | "search_files" => "grep",
        "LS" | "list_dir" | "ListDir" | "list_directory" => "list_dir",
        "Task" | "task" | "Agent" | "agent_task" => "agent_task",
        _ => return None,
    })
}

/// The common word that a trace uses for a tool, if it is one.
pub(super) fn common(word: &str) -> Option<&'static str> {
    COMMON.into_iter().find(|common| *common == word)
}

/// The skill that a tool call loads.
pub(super) fn loaded_skill<'a>(name: &str, arguments: &'a Value) -> Option<&'a str> {
    let loads = matches!(
        name,
        "load_skill" | "load-skill" | "loadSkill" | "Skill" | "skill" | "activate_skill"
    );
    if !loads {
        return None;
    }
    let keys = ["skill", "skill_name", "skillName", "name", "command", "id"];
    keys.iter().find_map(|key| arguments.get(key)?.as_str())
}

/// The agent that a tool call hands work to.
pub(super) fn called_agent<'a>(name: &str, arguments: &'a Value) -> Option<&'a str> {
    match name {
        "Task" | "task" | "Agent" => arguments.get("subagent_type")?.as_str(),
        "transfer_to_agent" => arguments.get("agent_name")?.as_str(),
        _ => None,
    }
}

/// Whether a call of the tool asks a person, and waits for the answer.
pub(super) fn asks_a_person(name: &str) -> bool {
    matches!(name, "AskUserQuestion" | "request_user_input")
}

/// Whether a result, in a format that does not mark failures, reports one.
pub(super) fn reports_failure(result: &Value) -> bool {
    reports_failure_within(result, LEVELS)
}

fn reports_failure_within(result: &Value, levels: usize) -> bool {
    let Some(deeper) = levels.checked_sub(1) else {
        return false;
    };
    match result {
        Value::String(text) => text_reports_failure(text, deeper),
        Value::Object(object) => {
            let states = |key: &str, found: bool| object.get(key) == Some(&Value::Bool(found));
            let error = object.get("error").is_some_and(is_an_error);
            let status = object.get("status").and_then(Value::as_str).map(str::to_ascii_lowercase);
            error
                || states("isError", true)
                || states("is_error", true)
                || states("success", false)
                || matches!(status.as_deref(), Some("error" | "failed" | "failure"))
                || exit_code(result).is_some_and(|code| code != 0)
                || object.get("output").and_then(Value::as_array).is_some_and(|all| broke_off(all))
        }
        // Content parts: the first text is the tool's message.
        Value::Array(parts) => {
            let first = parts.iter().find_map(|part| part.get("text"));
            first.is_some_and(|text| reports_failure_within(text, deeper))
                || broke_off(parts)
                || exit_code(result).is_some_and(|code| code != 0)
        }
        _ => false,
    }
}

/// Whether the value of `error` states an error: not if it is `false`, 0 or empty.
fn is_an_error(error: &Value) -> bool {
    match error {
        Value::Null => false,
        Value::Bool(is_error) => *is_error,
        Value::Number(code) => code.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(errors) => !errors.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// Whether one of several commands was interrupted.
fn broke_off(outputs: &[Value]) -> bool {
    outputs.iter().any(|part| part.pointer("/outcome/type") == Some(&"timeout".into()))
}

fn text_reports_failure(text: &str, levels: usize) -> bool {
    let text = text.trim_start();
    if text.starts_with('{') {
        return serde_json::from_str(text)
            .is_ok_and(|inside: Value| reports_failure_within(&inside, levels));
    }
    if let Some(code) = written_exit_code(text) {
        return code != 0;
    }
    let word = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(word);
    match word.to_ascii_lowercase().as_str() {
        // `Error: …` and `Error executing tool …` report a failure; `Error handling for beginners` does not.
        "error" | "exception" => {
            let acts = [" executing", " calling", " invoking", " running"];
            rest.is_empty()
                || rest.starts_with([':', '!', '\n', '\r'])
                || acts.iter().any(|act| rest.starts_with(act))
        }
        "traceback" => rest.starts_with(" (most recent call last)"),
        // What OpenAI's agents SDK tells the model if a tool raised an exception.
        "an" => [" error occurred while running the tool", " error occurred while parsing tool"]
            .iter()
            .any(|told| rest.starts_with(told)),
        _ => text.starts_with("<error>") || text.starts_with("<tool_use_error>"),
    }
}

/// The exit code of a command, if the result has one. For several commands, that of the first one that failed.
pub(super) fn exit_code(result: &Value) -> Option<i64> {
    let code = |value: &Value| EXIT_CODES.iter().find_map(|key| whole(value.get(key)?));
    let of_all = |outputs: &[Value]| {
        let codes = || outputs.iter().filter_map(|part| code(part.get("outcome")?));
        codes().find(|code| *code != 0).or_else(|| codes().next())
    };
    match result {
        Value::Object(object) => {
            let outputs = || of_all(object.get("output")?.as_array()?);
            code(result).or_else(|| object.get("metadata").and_then(code)).or_else(outputs)
        }
        Value::Array(parts) => of_all(parts),
        Value::String(text) => {
            let text = text.trim_start();
            if text.starts_with('{') {
                let inside: Value = serde_json::from_str(text).ok()?;
                return code(&inside).or_else(|| inside.get("metadata").and_then(code));
            }
            written_exit_code(text)
        }
        _ => None,
    }
}

/// A whole number, which some programs write with a decimal point: `1.0`.
pub(super) fn whole(number: &Value) -> Option<i64> {
    let double = || number.as_f64().filter(|double| double.fract() == 0.0);
    number.as_i64().or_else(|| double().map(|double| double as i64))
}

/// The exit code in the first line, where Codex and Claude Code write it, or in one of the lines that Codex writes
/// before an output.
fn written_exit_code(text: &str) -> Option<i64> {
    let starts = ["Exit code: ", "Exit code ", "exit code: ", EXITED];
    let mut lines = text.lines();
    let first = lines.next()?;
    let is_header = ["Chunk ID: ", "Wall time: "].iter().any(|start| first.starts_with(start));
    let rest = match is_header {
        true => lines.take_while(|line| *line != "Output:").find_map(|l| l.strip_prefix(EXITED)),
        false => starts.iter().find_map(|start| first.strip_prefix(start)),
    };
    rest?.split_whitespace().next()?.parse().ok()
}

/// What Codex writes before the exit code of a command in a terminal.
const EXITED: &str = "Process exited with code ";

/// A value in words: a text itself, the texts of content parts, else JSON.
pub(super) fn words(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(parts) if parts.iter().any(|part| part.get("text").is_some()) => {
            let texts: Vec<_> =
                parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
            Cow::Owned(texts.join("\n"))
        }
        other => Cow::Owned(other.to_string()),
    }
}
