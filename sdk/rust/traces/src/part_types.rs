//! What the types of message parts mean, in all formats. It reads no part.

/// Whether a part is a call.
pub(super) fn is_call(kind: &str) -> bool {
    matches!(
        kind,
        "tool_use"
            | "server_tool_use"
            | "mcp_tool_use"
            | "tool_call"
            | "tool-call"
            | "server_tool_call"
            | "dynamic-tool"
            | "toolCall"
            | "tool-invocation"
            | "tool-input-available"
            | "tool-input-error"
            | "function_call"
            | "custom_tool_call"
    ) || named_tool(kind).is_some()
}

/// The tool that a type names, as in the parts of the AI SDK's UI messages: `tool-NAME`. The parts of its streams begin
/// with the same word.
pub(super) fn named_tool(kind: &str) -> Option<&str> {
    let name = kind.strip_prefix("tool-")?;
    let is_other = matches!(name, "call" | "invocation" | "result" | "error")
        || matches!(name, "input-available" | "input-error")
        || matches!(name, "output-available" | "output-error" | "output-denied")
        || name.starts_with("approval")
        || is_input_piece(kind);
    (!is_other).then_some(name)
}

/// Whether a part of the AI SDK's streams has a piece of a call that another part has in full.
pub(super) fn is_input_piece(kind: &str) -> bool {
    matches!(
        kind,
        "tool-input-start"
            | "tool-input-delta"
            | "tool-input-end"
            | "tool-call-streaming-start"
            | "tool-call-delta"
    )
}

/// Whether a part is a result.
pub(super) fn is_result(kind: &str) -> bool {
    matches!(
        kind,
        "tool_call_response"
            | "server_tool_call_response"
            | "tool-result"
            | "tool-error"
            | "tool-output-available"
            | "tool-output-error"
            | "tool-output-denied"
    ) || is_item_output(kind)
        || kind.ends_with("tool_result")
}

/// Whether a part is a result as the Responses API writes it.
pub(super) fn is_item_output(kind: &str) -> bool {
    matches!(kind, "function_call_output" | "custom_tool_call_output")
}

/// Whether a part is a model's thought.
pub(super) fn is_thinking(kind: &str) -> bool {
    matches!(kind, "thinking" | "redacted_thinking" | "reasoning" | "reasoning_content")
}
