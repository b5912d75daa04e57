//! How the reader understands the tokens and the cost that traces state.

use serde_json::json;

use super::*;

/// Input, output and total tokens, tokens from a cache, and cost.
type Stated = (Option<u64>, Option<u64>, Option<u64>, Option<u64>, Option<f64>);

fn stated(trace: Value) -> Stated {
    let usage = Trace::read(trace).unwrap().usage().unwrap_or_default();
    let Usage { input_tokens, output_tokens, total_tokens, cache_read_tokens, cost_usd, .. } =
        usage;
    (input_tokens, output_tokens, total_tokens, cache_read_tokens, cost_usd)
}

fn says(usage: Value) -> Value {
    json!({"role": "assistant", "content": "x", "usage": usage})
}

#[test]
fn the_answers_of_a_conversation_add_up() {
    let openai = says(json!({"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13,
        "prompt_tokens_details": {"cached_tokens": 2}}));
    assert_eq!(stated(json!([openai, openai])), (Some(18), Some(8), Some(26), Some(4), None));
    let anthropic =
        says(json!({"input_tokens": 5, "output_tokens": 6, "cache_read_input_tokens": 100}));
    assert_eq!(stated(json!([anthropic])), (Some(5), Some(6), None, Some(100), None));
    let langchain = json!({"type": "ai", "content": "x", "usage_metadata": {"input_tokens": 3,
        "output_tokens": 4, "total_tokens": 7, "input_token_details": {"cache_read": 1}}});
    assert_eq!(stated(json!([langchain])), (Some(3), Some(4), Some(7), Some(1), None));
    // An answer without words or calls still consumed tokens.
    let empty = json!({"role": "assistant", "content": "", "usage": {"input_tokens": 1}});
    assert_eq!(stated(json!([anthropic, empty])).0, Some(6));
    assert_eq!(
        stated(json!([{"role": "assistant", "content": "x"}])),
        (None, None, None, None, None)
    );
}

/// Input, total, written to a cache, read from a cache, and how much of the latter the input includes.
fn cached(usage: Value) -> [Option<u64>; 5] {
    let usage = Trace::read(json!([says(usage)])).unwrap().usage().unwrap();
    [
        usage.input_tokens,
        usage.total_tokens,
        usage.cache_write_tokens,
        usage.cache_read_tokens,
        usage.cached_input_tokens,
    ]
}

#[test]
fn tokens_of_a_cache_that_a_format_counts_beside_the_input_join_it_if_they_were_written() {
    let beside = [Some(7), None, Some(5), Some(90), None];
    for (input, write, read) in [
        ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        ("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens"),
        ("inputTokens", "cacheWriteInputTokens", "cacheReadInputTokens"),
        ("inputTokens", "cacheCreationTokens", "cacheReadTokens"),
        ("input_tokens", "input_tokens_cache_write", "input_tokens_cache_read"),
        // More tokens than the input cannot be included in it.
        ("inputTokens", "cacheWriteTokens", "cachedInputTokens"),
        ("prompt_tokens", "cache_write_tokens", "cache_read_tokens"),
    ] {
        assert_eq!(cached(json!({input: 2, write: 5, read: 90})), beside, "{read}");
    }
    // Inspect's total includes all of them; to a total without them, those that were written are added.
    let inspect = |input: u64, total: u64| {
        json!({"input_tokens": input, "output_tokens": 1, "total_tokens": total,
            "input_tokens_cache_write": 5, "input_tokens_cache_read": 90})
    };
    assert_eq!(cached(inspect(200, 296)), [Some(205), Some(296), Some(5), Some(90), None]);
    assert_eq!(cached(inspect(200, 201)), [Some(200), Some(201), Some(5), Some(90), Some(90)]);
    let bedrock = json!({"inputTokens": 200, "outputTokens": 1, "totalTokens": 201,
        "cacheWriteInputTokens": 5, "cacheReadInputTokens": 90});
    assert_eq!(cached(bedrock), [Some(205), Some(206), Some(5), Some(90), None]);
}

#[test]
fn tokens_of_a_cache_that_a_format_counts_as_input_stay_in_it() {
    let within = [Some(97), None, Some(5), Some(90), Some(90)];
    for usage in [
        json!({"prompt_tokens": 97,
            "prompt_tokens_details": {"cached_tokens": 90, "cache_write_tokens": 5}}),
        json!({"input_tokens": 97,
            "input_tokens_details": {"cached_tokens": 90, "cache_write_tokens": 5}}),
        json!({"input_tokens": 97, "input_token_details": {"cache_read": 90, "cache_creation": 5}}),
        json!({"input_tokens": 97, "input_token_details": {"cache_read": 90, "cache_creation": 0,
            "ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 2}}),
        json!({"input_tokens": 97, "input_token_details": {"cache_read": 90, "cache_creation": 5,
            "ephemeral_5m_input_tokens": 5}}),
        json!({"inputTokens": 97,
            "inputTokenDetails": {"cacheReadTokens": 90, "cacheWriteTokens": 5}}),
        json!({"input_tokens": 97, "cache_read_tokens": 90, "cache_write_tokens": 5}),
        // LiteLLM uses Anthropic's names, but counts the prompt as OpenAI does.
        json!({"prompt_tokens": 97, "cache_read_input_tokens": 90,
            "cache_creation_input_tokens": 5}),
    ] {
        assert_eq!(cached(usage.clone()), within, "{usage}");
    }
    let google = json!({"promptTokenCount": 97, "cachedContentTokenCount": 90});
    assert_eq!(cached(google), [Some(97), None, None, Some(90), Some(90)]);
    let codex = json!({"input_tokens": 97, "cached_input_tokens": 90});
    assert_eq!(cached(codex), [Some(97), None, None, Some(90), Some(90)]);
}

/// Input, output and total.
fn counted(usage: Value) -> [Option<u64>; 3] {
    let (input, output, total, ..) = stated(json!([says(usage)]));
    [input, output, total]
}

#[test]
fn thoughts_that_a_format_counts_beside_the_answer_are_output() {
    for (usage, expected) in [
        (
            json!({"promptTokenCount": 10, "candidatesTokenCount": 3, "thoughtsTokenCount": 50,
            "toolUsePromptTokenCount": 7, "totalTokenCount": 70}),
            [Some(17), Some(53), Some(70)],
        ),
        (
            json!({"prompt_token_count": 10, "candidates_token_count": 3, "thoughts_token_count": 50,
            "tool_use_prompt_token_count": 7}),
            [Some(17), Some(53), None],
        ),
        // Thinking took all tokens of the answer.
        (
            json!({"promptTokenCount": 10, "thoughtsTokenCount": 50, "totalTokenCount": 60}),
            [Some(10), Some(50), Some(60)],
        ),
        // A total without room for them shows that the answer includes them.
        (
            json!({"promptTokenCount": 10, "candidatesTokenCount": 53, "thoughtsTokenCount": 50,
            "totalTokenCount": 63}),
            [Some(10), Some(53), Some(63)],
        ),
        // xAI, and Google's models behind OpenAI's interface.
        (
            json!({"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 63,
            "completion_tokens_details": {"reasoning_tokens": 50}}),
            [Some(10), Some(53), Some(63)],
        ),
        (
            json!({"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 63}),
            [Some(10), Some(53), Some(63)],
        ),
        // OpenAI, with and without a total.
        (
            json!({"prompt_tokens": 10, "completion_tokens": 53, "total_tokens": 63,
            "completion_tokens_details": {"reasoning_tokens": 50}}),
            [Some(10), Some(53), Some(63)],
        ),
        (
            json!({"input_tokens": 10, "output_tokens": 53,
            "output_tokens_details": {"reasoning_tokens": 50}}),
            [Some(10), Some(53), None],
        ),
        // Tokens of a cache in the total are not thinking.
        (
            json!({"input_tokens": 2, "output_tokens": 3, "total_tokens": 150, "reasoning_tokens": 50,
            "input_tokens_cache_write": 5, "input_tokens_cache_read": 90}),
            [Some(7), Some(53), Some(150)],
        ),
        (json!({"prompt_tokens": 10, "total_tokens": 10}), [Some(10), Some(0), Some(10)]),
    ] {
        assert_eq!(counted(usage.clone()), expected, "{usage}");
    }
}

#[test]
fn what_one_answer_does_not_state_is_unknown_in_the_sum() {
    let whole = says(json!({"prompt_tokens": 9, "completion_tokens": 4, "cost_usd": 0.5}));
    let uncounted = says(json!({"prompt_tokens": 1}));
    assert_eq!(stated(json!([whole, whole])), (Some(18), Some(8), None, None, Some(1.0)));
    assert_eq!(stated(json!([whole, uncounted])), (Some(10), None, None, None, None));
}

#[test]
fn a_simulated_users_tokens_are_not_the_agents() {
    let user =
        json!({"role": "user", "content": "x", "cost": 9.0, "usage": {"prompt_tokens": 900}});
    let agent = json!({"role": "assistant", "content": "x", "cost": 0.25,
        "usage": {"prompt_tokens": 9, "completion_tokens": 1}});
    assert_eq!(stated(json!([user, agent, agent])), (Some(18), Some(2), None, None, Some(0.5)));
}

#[test]
fn claude_code_repeats_an_answers_usage_with_every_part_of_it() {
    let part = |text: &str, output: u64| {
        json!({"type": "assistant", "message": {"id": "msg_1", "role": "assistant",
            "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 5, "output_tokens": output, "cache_read_input_tokens": 7}}})
    };
    let transcript = json!([part("a", 1), part("b", 6)]);
    assert_eq!(stated(transcript), (Some(5), Some(6), None, Some(7), None));
    let result = json!({"type": "result", "subtype": "success", "session_id": "s",
        "total_cost_usd": 0.5, "usage": {"input_tokens": 8, "output_tokens": 90}});
    let ended = json!([part("a", 1), result]);
    assert_eq!(stated(ended), (Some(8), Some(90), None, None, Some(0.5)));
}

#[test]
fn codex_counts_from_the_beginning_of_the_session() {
    let turn = |output: u64| {
        json!({"type": "turn.completed", "usage": {"input_tokens": 7, "cached_input_tokens": 2,
            "output_tokens": output}})
    };
    let spoke = json!({"type": "item.completed", "item": {"type": "agent_message", "text": "x"}});
    let exec = json!([spoke, turn(3), spoke, turn(9)]);
    assert_eq!(stated(exec), (Some(7), Some(9), None, Some(2), None));
    let session = json!([
        {"type": "response_item", "payload": {"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "x"}]}},
        {"type": "event_msg", "payload": {"type": "token_count", "info": {
            "total_token_usage": {"input_tokens": 40, "output_tokens": 2, "total_tokens": 42},
            "last_token_usage": {"input_tokens": 4, "output_tokens": 1}}}},
        {"type": "event_msg", "payload": {"type": "token_count", "info": null}},
    ]);
    assert_eq!(stated(session), (Some(40), Some(2), Some(42), None, None));
}

#[test]
fn a_total_of_the_run_comes_before_the_sum_of_its_answers() {
    let atif = json!({"schema_version": "ATIF-v1.8", "agent": {"name": "a"},
        "steps": [{"step_id": 1, "source": "agent", "message": "x",
            "metrics": {"prompt_tokens": 1, "completion_tokens": 1}}],
        "final_metrics": {"total_prompt_tokens": 10, "total_completion_tokens": 5,
            "total_cached_tokens": 3, "total_cost_usd": 0.25}});
    assert_eq!(stated(atif), (Some(10), Some(5), None, Some(3), Some(0.25)));
    let inspect = json!({"id": 1, "epoch": 1, "scores": {}, "messages": [says(json!(null))],
        "model_usage": {
            "openai/a": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
            "openai/b": {"input_tokens": 10, "output_tokens": 20, "total_tokens": 30,
                "input_tokens_cache_read": 4}}});
    assert_eq!(stated(inspect), (Some(11), Some(22), Some(33), Some(4), None));
    let openhands = json!([{"id": 1, "source": "agent", "action": "run", "args": {"command": "ls"},
        "llm_metrics": {"accumulated_cost": 0.125,
            "accumulated_token_usage": {"prompt_tokens": 6, "completion_tokens": 2}}}]);
    assert_eq!(stated(openhands), (Some(6), Some(2), None, None, Some(0.125)));
}

#[test]
fn what_stands_around_the_steps_counts_where_they_state_nothing() {
    let silent = json!({"role": "assistant", "content": "x"});
    let around = json!({"messages": [silent], "usage": {"input_tokens": 3, "output_tokens": 4}});
    assert_eq!(stated(around), (Some(3), Some(4), None, None, None));
    let step = |input: u64| json!({"toolCalls": [{"toolName": "w", "input": {}}], "usage": {"inputTokens": input}});
    // The AI SDK states the usage of its last step there, and the total next to it.
    let steps = json!({"steps": [step(1), step(2)], "usage": {"inputTokens": 2}});
    assert_eq!(stated(steps).0, Some(3));
    let total = json!({"steps": [step(1)], "usage": {"inputTokens": 1},
        "totalUsage": {"inputTokens": 8, "outputTokens": 1, "cachedInputTokens": 5}});
    assert_eq!(stated(total), (Some(8), Some(1), None, Some(5), None));
}

#[test]
fn spans_state_it_in_the_keys_of_several_conventions() {
    let span = |attributes: Value| json!({"name": "chat", "spanId": "1", "attributes": attributes});
    let today = json!({"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 2, "gen_ai.usage.cache_read.input_tokens": 1,
        "gen_ai.usage.cache_creation.input_tokens": 3,
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "x"}]}]});
    let today = json!([span(today)]);
    assert_eq!(stated(today.clone()), (Some(5), Some(2), None, Some(1), None));
    assert_eq!(Trace::read(today).unwrap().usage().unwrap().cache_write_tokens, Some(3));
    let openinference = json!({"openinference.span.kind": "LLM", "llm.token_count.prompt": 5,
        "llm.token_count.completion": 2, "llm.token_count.total": 7, "llm.cost.total": 0.5,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "x"});
    assert_eq!(stated(json!([span(openinference)])), (Some(5), Some(2), Some(7), None, Some(0.5)));
}

#[test]
fn a_case_without_usage_has_the_one_of_its_trace() {
    let silent = Case::new(json!("x"));
    let missing = Trace::usage_of(&silent).unwrap_err();
    assert_eq!(
        missing.message(),
        "the case has no `usage`, which this scorer needs, and no trace that states one"
    );
    let traced = silent.with_trace(json!([says(json!({"input_tokens": 3}))]));
    assert_eq!(Trace::usage_of(&traced).unwrap().input_tokens, Some(3));
    let own = traced.with_usage(Usage { input_tokens: Some(1), ..Usage::default() });
    assert_eq!(Trace::usage_of(&own).unwrap().input_tokens, Some(1));
}

#[test]
fn tokens_of_a_cache_are_those_of_the_trace_beside_a_usage_without_a_cost() {
    let cached = json!({"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 9});
    let case = Case::new(json!("x")).with_trace(json!([says(cached)]));
    let usage = |output: u64, cost: Option<f64>| Usage {
        input_tokens: Some(3),
        output_tokens: Some(output),
        cost_usd: cost,
        ..Usage::default()
    };
    let read = |own: Usage| Trace::usage_of(&case.clone().with_usage(own)).unwrap();
    assert_eq!(read(usage(1, None)).cache_read_tokens, Some(9));
    assert_eq!(read(usage(1, Some(0.5))), usage(1, Some(0.5)), "the cost is all that counts");
    assert_eq!(read(usage(70, None)), usage(70, None), "the trace has a part of it only");
}

#[test]
fn smolagents_state_the_tokens_of_each_step() {
    let step = json!({"step_number": 1, "tool_calls": [{"id": "1", "type": "function",
        "function": {"name": "w", "arguments": {}}}], "observations": "x",
        "token_usage": {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}});
    assert_eq!(stated(json!([step, step])), (Some(14), Some(4), Some(18), None, None));
}
