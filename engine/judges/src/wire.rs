//! Selects the protocol: turns a question into a document, and a document into an answer. Sends nothing.

use bytes::Bytes;
use scorebox::judge::Embedding;

use crate::{
    anthropic,
    form::Way,
    openai,
    spoken::{Asking, Heard},
};

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    OpenAi,
    Anthropic,
}

impl Wire {
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Wire::OpenAi => "openai",
            Wire::Anthropic => "anthropic",
        }
    }

    /// The path that conversations are sent to, below the base URL.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Wire::OpenAi => openai::CHAT,
            Wire::Anthropic => anthropic::MESSAGES,
        }
    }

    /// The ways in which a server can enforce a form, the best first. Anthropic's schemas lack much that scorers use
    /// (bounds of numbers), but its tools do not.
    pub(crate) fn ways(self) -> [Way; 2] {
        match self {
            Wire::OpenAi => [Way::Schema, Way::Tool],
            Wire::Anthropic => [Way::Tool, Way::Schema],
        }
    }

    /// The document that asks for a conversation's next turn.
    pub(crate) fn conversation(self, asking: &Asking<'_>) -> Bytes {
        match self {
            Wire::OpenAi => openai::conversation(asking),
            Wire::Anthropic => anthropic::conversation(asking),
        }
    }

    pub(crate) fn read(self, document: &[u8], way: Option<Way>) -> Heard {
        match self {
            Wire::OpenAi => openai::read(document, way),
            Wire::Anthropic => anthropic::read(document, way),
        }
    }

    /// The path and the document that ask for vectors, if this protocol has them.
    pub(crate) fn vectors(self, embedding: &Embedding) -> Option<(&'static str, Bytes)> {
        match self {
            Wire::OpenAi => Some((openai::EMBEDDINGS, openai::texts(embedding))),
            Wire::Anthropic => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use scorebox::judge::Reply;

    use crate::spoken::Said;

    use super::*;

    /// Valid answers of both protocols, from which the test makes others.
    const ANSWERS: [&str; 4] = [
        r#"{"choices": [{"message": {"content": "a", "refusal": null, "tool_calls": [{"function": {"name": "answer",
            "arguments": "{\"a\": 1}"}}]}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1, "cost": 0.1}}"#,
        r#"{"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}]}}]}"#,
        r#"{"data": [{"index": 0, "embedding": [1, 2.5e0]}, {"index": 1, "embedding": [3, 4]}], "usage": null}"#,
        r#"{"content": [{"type": "text", "text": "a"}, {"type": "tool_use", "input": {"b": []}}], "model": "m",
            "stop_reason": "max_tokens", "usage": {"input_tokens": 1, "cache_read_input_tokens": 18446744073709551615}}"#,
    ];

    /// A part of such an answer.
    fn part() -> impl Strategy<Value = String> {
        let parts = ANSWERS
            .iter()
            .flat_map(|answer| answer.split_inclusive([',', '{', '[', ':', '}', ']']));
        let parts: Vec<String> = parts.map(str::to_owned).collect();
        prop_oneof![
            8 => prop::sample::select(parts),
            1 => Just("null".to_owned()),
            1 => Just("-1e400".to_owned()),
            1 => any::<String>(),
        ]
    }

    fn read_all(document: &[u8]) {
        for way in [None, Some(Way::Schema), Some(Way::Tool), Some(Way::Prompt)] {
            for wire in [Wire::OpenAi, Wire::Anthropic] {
                let _ = wire.read(document, way);
            }
        }
        let heard = openai::read_vectors(document, 2);
        if let Ok(Said { reply: Reply::Vectors(vectors), .. }) = heard.said {
            assert!(vectors.len() == 2 && vectors[0].len() == vectors[1].len());
            assert!(vectors.iter().flatten().all(|number| number.is_finite()));
        }
    }

    proptest! {
        #[test]
        fn no_answer_makes_its_reader_panic(parts in prop::collection::vec(part(), 0..40)) {
            read_all(parts.concat().as_bytes());
        }

        #[test]
        fn no_change_of_an_answer_makes_its_reader_panic(
            answer in 0..ANSWERS.len(),
            cut in any::<prop::sample::Index>(),
            length in 0..20_usize,
            inserted in part(),
        ) {
            let mut bytes = ANSWERS[answer].as_bytes().to_vec();
            let from = cut.index(bytes.len());
            let to = (from + length).min(bytes.len());
            bytes.splice(from..to, inserted.bytes());
            read_all(&bytes);
        }
    }
}
