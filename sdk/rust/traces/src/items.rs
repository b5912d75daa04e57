//! Reads the items of OpenAI's Responses API, where every call and every result is a separate
//! item.

use serde_json::{Value, json};

use crate::builder::{Builder, CallResult};
use crate::fields::{self, Object, id, list, take, text};
use crate::step::{InputRequest, Role, Status, ToolCall};

/// Whether the type is that of an item, other than `message`.
pub(super) fn is_item(kind: &str) -> bool {
    matches!(
        kind,
        "function_call"
            | "function_call_output"
            | "custom_tool_call"
            | "custom_tool_call_output"
            | "reasoning"
            | "mcp_list_tools"
            | "mcp_approval_request"
            | "mcp_approval_response"
            | "item_reference"
    ) || hosted(kind).is_some()
        || answer_of(kind).is_some()
}

/// Whether the type is that of a call that the service itself executes.
pub(super) fn is_call(kind: &str) -> bool {
    hosted(kind).is_some()
}

/// The tool of a call that the service itself executes.
fn hosted(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "web_search_call" => "web_search",
        "file_search_call" => "file_search",
        "code_interpreter_call" => "code_interpreter",
        "image_generation_call" => "image_generation",
        "computer_call" => "computer",
        "local_shell_call" => "local_shell",
        "shell_call" => "shell",
        "apply_patch_call" => "apply_patch",
        "tool_search_call" => TOOL_SEARCH,
        "mcp_call" => "mcp",
        _ => return None,
    })
}

/// The tool search, whose call and output have separate ids if the service executes it.
const TOOL_SEARCH: &str = "tool_search";

fn answer_of(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "computer_call_output" => "computer",
        "local_shell_call_output" => "local_shell",
        "shell_call_output" => "shell",
        "apply_patch_call_output" => "apply_patch",
        "tool_search_output" => TOOL_SEARCH,
        _ => return None,
    })
}

/// Reads one item.
pub(super) fn read_item(builder: &mut Builder, kind: &str, mut item: Object) {
    match kind {
        "function_call" | "custom_tool_call" => {
            builder.assistant_turn();
            let Some(name) = text(&mut item, &["name"]) else {
                return builder.refuse(format!("a tool call in it {}", fields::keys(&item)));
            };
            let id = id(&mut item, &["call_id", "id"]);
            let mut call = ToolCall { id, name, ..ToolCall::default() };
            let arguments = take(&mut item, &["arguments", "input"]);
            fields::arguments(&mut call, arguments, kind == "function_call");
            builder.call(call);
        }
        "function_call_output" | "custom_tool_call_output" => answer(builder, None, item),
        "reasoning" => {
            builder.assistant_turn();
            builder.thought(thought(&mut item));
        }
        "mcp_approval_request" => builder.input_request(InputRequest {
            id: id(&mut item, &["id"]),
            action: text(&mut item, &["name"]),
            prompt: None,
        }),
        "mcp_approval_response" => builder.event("input.answered"),
        "mcp_list_tools" => {
            builder.tools.extend(list(&mut item, &["tools"]).unwrap_or_default());
            builder.event(kind.to_owned());
        }
        _ => match (hosted(kind), answer_of(kind)) {
            (Some(tool), _) => hosted_call(builder, kind, tool, item),
            (_, Some(tool)) => answer(builder, Some(tool.to_owned()), item),
            _ => builder.event(kind.to_owned()),
        },
    }
}

fn answer(builder: &mut Builder, name: Option<String>, mut item: Object) {
    builder.turn(Role::Tool);
    // `status` says whether the item was written completely, except for a patch.
    let patch = name.as_deref() == Some("apply_patch");
    if !patch {
        item.remove("status");
    }
    let id = call_id(name.as_deref(), &mut item);
    let (status, error) = fields::ending(&mut item);
    let value = take(&mut item, &["output", "tools"]).unwrap_or(Value::Null);
    builder.result(CallResult { id, name, value, status, error });
}

/// The id that a hosted call and its answer share; the item's own id if they share that.
fn call_id(tool: Option<&str>, item: &mut Object) -> Option<String> {
    let own = ["call_id", "id"];
    id(item, if tool == Some(TOOL_SEARCH) { &own[..1] } else { &own })
}

/// A summary of the thought, or the thought.
fn thought(item: &mut Object) -> String {
    let mut thoughts = Vec::new();
    for key in ["summary", "content"] {
        for part in list(item, &[key]).unwrap_or_default() {
            match part {
                Value::String(text) => thoughts.push(text),
                Value::Object(mut part) => thoughts.extend(text(&mut part, &["text"])),
                _ => {}
            }
        }
    }
    thoughts.extend(text(item, &["text", "content"]));
    thoughts.join("\n")
}

/// A call that the service executed. If the item has its result, the call ends here.
fn hosted_call(builder: &mut Builder, kind: &str, tool: &str, mut item: Object) {
    builder.assistant_turn();
    let mut call = ToolCall { id: call_id(Some(tool), &mut item), ..ToolCall::default() };
    call.name = match kind {
        "mcp_call" => text(&mut item, &["name"]).unwrap_or_else(|| tool.to_owned()),
        _ => tool.to_owned(),
    };
    let arguments = match kind {
        "file_search_call" => {
            take(&mut item, &["queries"]).map(|queries| json!({"queries": queries}))
        }
        "code_interpreter_call" => take(&mut item, &["code"]).map(|code| json!({ "code": code })),
        "apply_patch_call" => take(&mut item, &["operation"]),
        "computer_call" if item.get("actions").is_some_and(Value::is_array) => {
            take(&mut item, &["actions"]).map(|actions| json!({ "actions": actions }))
        }
        _ => take(&mut item, &["action", "arguments"]),
    };
    fields::arguments(&mut call, arguments, kind == "mcp_call");
    let (status, error) = fields::ending(&mut item);
    // These are answered by a later item.
    let answered_later =
        matches!(kind, "computer_call" | "local_shell_call" | "shell_call" | "apply_patch_call");
    if tool == TOOL_SEARCH {
        call.stated_status = status;
    } else if !answered_later {
        let result = take(&mut item, &["output", "outputs", "results", "result"]);
        call.result = match (result, &error, status) {
            (Some(result), ..) => Some(result),
            (None, Some(error), _) => Some(Value::String(error.clone())),
            (None, None, Status::Unknown) => None,
            (None, None, _) => Some(Value::Null),
        };
        call.stated_status = match status {
            Status::Unknown if call.result.is_some() => Status::Succeeded,
            status => status,
        };
        call.error = error;
    }
    builder.call(call);
}
