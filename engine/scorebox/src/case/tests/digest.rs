//! What the digest of a case depends on.

use super::*;
use crate::digest::Digest;

fn digest(line: &str) -> Digest {
    case(line).digest()
}

#[test]
fn it_covers_everything_that_scorers_see() {
    let lines = [
        r#"{"output":1}"#,
        r#"{"output":1.0}"#,
        r#"{"output":[1, 2]}"#,
        r#"{"output":[1,2]}"#,
        r#"{"output":1,"input":2}"#,
        r#"{"output":1,"groundTruth":2}"#,
        r#"{"output":1,"context":2}"#,
        r#"{"output":1,"latencyMs":2}"#,
        r#"{"output":1,"outputSchema":2}"#,
        r#"{"output":1,"trace":2}"#,
        r#"{"output":1,"usage":{}}"#,
        r#"{"output":1,"usage":{"inputTokens":2}}"#,
        r#"{"output":1,"usage":{"outputTokens":2}}"#,
        r#"{"output":1,"usage":{"totalTokens":2}}"#,
        r#"{"output":1,"usage":{"costUsd":2}}"#,
        r#"{"output":1,"metadata":2}"#,
        r#"{"output":1,"baseline":2}"#,
        r#"{"output":1,"error":"2"}"#,
        r#"{"output":1,"error":"3"}"#,
    ];
    let digests: std::collections::HashSet<Digest> = lines.into_iter().map(digest).collect();
    assert_eq!(digests.len(), lines.len());
}

#[test]
fn it_covers_nothing_else() {
    let plain = digest(r#"{"output":1,"groundTruth":2,"latencyMs":100,"usage":{"inputTokens":3}}"#);
    for same in [
        r#" {"latencyMs":1.0e2,"target":2,"output":1,"usage":{"prompt_tokens":3,"x":0}} "#,
        r#"{"output":1,"groundTruth":2,"latencyMs":100,"usage":{"inputTokens":3},"id":"i",
            "nodeId":"n","iteration":1,"attempt":2,"label":0,"context":null,"error":" "}"#,
    ] {
        assert_eq!(digest(same), plain);
    }
    let mapping = Mapping::parse(["output=/a/b"]).unwrap();
    let mapped = Case::parse(r#"{"a":{"b":1}}"#, 8, &mapping, Location::new("f", 9)).unwrap();
    assert_eq!(mapped.digest(), digest(r#"{"output":1}"#));
}

#[test]
fn it_stays_the_same_from_version_to_version() {
    let line = r#"{"output":"Paris","input":"?","latencyMs":1.5,"usage":{"inputTokens":7,"costUsd":0.25}}"#;
    // Computed with Python's hashlib from the parts that `Case::digest` documents.
    assert_eq!(
        digest(line).to_string(),
        "ceb7ba0844e7f9e3640653b097b443e186b49f345da3e787fce8483d941d4ea9"
    );
    assert_eq!(
        digest(r#"{"error":"TimeoutError: no answer"}"#).to_string(),
        "500a37e5eadee9a9d6908cf3c3fa7720193258e2f3f6542f679f9859e1236ee6"
    );
}
