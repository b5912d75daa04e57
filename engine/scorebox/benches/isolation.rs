//! Measures the cost of a separate sandbox for each score: compared with a bare wasmtime loop with the same component
//! and settings, with a warm instance that is kept, and with a native call of the same function. Compare the rows of
//! one run as ratios, because single figures depend on the machine.
//!
//!     cargo bench --bench isolation

use std::sync::OnceLock;

use divan::{Bencher, counter::ItemsCount};
use scorebox::{
    case::Case,
    registry::Registry,
    sandbox::{Compiler, Grants, Limits, LoadedScorer, Sandbox, SandboxOptions, ScorerConfig},
};
use serde_json::json;
use tokio::runtime::Runtime;

mod bare;

/// How many scores one measurement has.
const SCORES: usize = 200;

fn main() {
    divan::main();
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// A real answer: the first of the GSM8K example.
fn answer() -> Case {
    let lines = include_str!("../../../examples/gsm8k/answers.jsonl");
    Case::from_json(lines.lines().next().unwrap()).unwrap()
}

fn load(name: &str, config: serde_json::Value) -> LoadedScorer {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    load_in(SANDBOX.get_or_init(|| sandbox(options())), name, config)
}

fn options() -> SandboxOptions {
    SandboxOptions::default().with_compiler(Compiler::InProcess).with_slots(8)
}

fn sandbox(options: SandboxOptions) -> Sandbox {
    Sandbox::new(&options).unwrap()
}

fn load_in(sandbox: &Sandbox, name: &str, config: serde_json::Value) -> LoadedScorer {
    let component = &Registry::with_builtins().get(name).unwrap().component;
    let config = ScorerConfig::new(config.as_object().unwrap());
    runtime().block_on(sandbox.load(component, &config, &Limits::default(), Grants::NONE)).unwrap()
}

fn bench_isolated(bencher: Bencher<'_, '_>, scorer: &LoadedScorer, case: &Case) {
    let runtime = runtime();
    bencher.counter(ItemsCount::new(SCORES)).bench_local(|| {
        runtime.block_on(async {
            for _ in 0..SCORES {
                let outcome = scorer.score(case.scorer_input(scorer.info().reads)).await;
                divan::black_box(outcome.result.unwrap());
            }
        });
    });
}

/// numeric-answer on a real answer, in seven ways.
#[divan::bench_group(sample_count = 60)]
mod numeric_answer {
    use super::*;

    #[divan::bench]
    fn isolated(bencher: Bencher<'_, '_>) {
        bench_isolated(bencher, &load("numeric-answer", json!({})), &answer());
    }

    /// With a new instance for each score, instead of one that is reset.
    #[divan::bench]
    fn isolated_in_fresh_instances(bencher: Bencher<'_, '_>) {
        let fresh = sandbox(options().with_instances_kept(false));
        bench_isolated(bencher, &load_in(&fresh, "numeric-answer", json!({})), &answer());
    }

    /// With code and configuration compiled as one: shows what it costs each score that code is compiled once for all
    /// configurations.
    #[divan::bench]
    fn isolated_whole(bencher: Bencher<'_, '_>) {
        let whole = sandbox(options().with_code_apart(false));
        bench_isolated(bencher, &load_in(&whole, "numeric-answer", json!({})), &answer());
    }

    /// With traps that are detected without signals, as in the Python package.
    #[divan::bench]
    fn isolated_without_signals(bencher: Bencher<'_, '_>) {
        let checked = sandbox(options().with_signals_based_traps(false));
        bench_isolated(bencher, &load_in(&checked, "numeric-answer", json!({})), &answer());
    }

    #[divan::bench]
    fn bare_wasmtime(bencher: Bencher<'_, '_>) {
        let runtime = runtime();
        let scorer = runtime.block_on(bare::Scorer::new("numeric-answer", "{}"));
        let case = answer();
        bencher.counter(ItemsCount::new(SCORES)).bench_local(|| {
            runtime.block_on(async {
                for _ in 0..SCORES {
                    divan::black_box(scorer.score_in_fresh_instance(&case).await);
                }
            });
        });
    }

    #[divan::bench]
    fn warm_instance(bencher: Bencher<'_, '_>) {
        let runtime = runtime();
        let scorer = runtime.block_on(bare::Scorer::new("numeric-answer", "{}"));
        let case = answer();
        let mut warm = runtime.block_on(scorer.warm());
        bencher.counter(ItemsCount::new(SCORES)).bench_local(|| {
            runtime.block_on(async {
                for _ in 0..SCORES {
                    divan::black_box(warm.score(&case).await);
                }
            });
        });
    }

    #[divan::bench]
    fn native(bencher: Bencher<'_, '_>) {
        use scorebox_sdk::Scorer as _;
        let scorer: ::numeric_answer::NumericAnswer = scorebox_sdk::configure(json!({})).unwrap();
        let case = answer();
        let (output, truth) = (case.output(), case.raw(scorebox::case::Key::GroundTruth).unwrap());
        bencher.counter(ItemsCount::new(SCORES)).bench_local(|| {
            for _ in 0..SCORES {
                // A native scorer does this too: it parses the two documents and makes a case of them.
                let parse = |json| serde_json::from_str::<serde_json::Value>(json).unwrap();
                let case = scorebox_sdk::Case::new(parse(output)).with_ground_truth(parse(truth));
                divan::black_box(scorer.score(&case).unwrap());
            }
        });
    }
}

/// schema-adherence: `configure` is computed once, however large the schema.
#[divan::bench_group(sample_count = 60)]
mod schema_adherence {
    use super::*;

    fn object() -> Case {
        Case::from_json(r#"{"output": {"name": "Ada", "field7": "abc-7", "age": 36}}"#).unwrap()
    }

    #[divan::bench]
    fn trivial_schema(bencher: Bencher<'_, '_>) {
        let scorer = load("schema-adherence", json!({"schema": {"type": "object"}}));
        bench_isolated(bencher, &scorer, &object());
    }

    #[divan::bench]
    fn forty_patterns(bencher: Bencher<'_, '_>) {
        let properties: serde_json::Map<String, serde_json::Value> = (0..40)
            .map(|number| {
                let pattern = format!("^[a-z]{{2,}}-({number}|[0-9]{{3,5}})(x|y)?$");
                (format!("field{number}"), json!({"type": "string", "pattern": pattern}))
            })
            .collect();
        let schema = json!({"type": "object", "properties": properties, "required": ["name"]});
        let scorer = load("schema-adherence", json!({"schema": schema}));
        bench_isolated(bencher, &scorer, &object());
    }
}
