//! The table of contents of scorebox's tests: end to end, with real components, real SQLite files and the real binary.
//! Tests of a single room are next to its code.

/// A suite of all built-in scorers, compiled once for all tests.
mod all_builtins;
/// ARCHITECTURE.md's table of rooms, and what they import.
mod architecture;
/// A real browser, for the tests of pages.
mod browser;
mod built_components;
/// OpenTelemetry collectors on the loopback interface, for the tests of the export.
mod collector;
/// The examples of docs/coming-from.md.
mod coming_from;
/// `scorebox add`, `fetch` and `remove`: a published scorer in a suite, its lock, and runs that use it.
mod command_add;
/// `scorebox agree`: scores compared with labels and with other scorers.
mod command_agree;
mod command_agree_labels;
mod command_agree_people;
/// `scorebox audit`: published scorers checked against their lock, the policies and what they say about themselves.
mod command_audit;
/// `scorebox run` and `score` with invalid scorers, suites and cases.
mod command_bad_input;
mod command_build;
/// `scorebox build` of languages other than Rust: compilers that are missing, old or fail, and modules that are not
/// scorers.
mod command_build_languages;
mod command_build_watch;
/// `scorebox bundle`: a suite with its components in one file, and the commands that run it.
mod command_bundle;
/// `scorebox card`: the page of a scorer, whose figures others can reproduce.
mod command_card;
mod command_card_refused;
mod command_case_files;
/// `scorebox compare` and `stats --ci`: two runs, and the intervals of means.
mod command_compare;
mod command_compare_unlike;
/// `scorebox compile`: compiles a suite's scorers before its runs.
mod command_compile;
/// `scorebox completions`: what shells offer, in a real bash.
mod command_completions;
/// Files of other tools as cases: `convert`, and `run` over them.
mod command_convert;
mod command_convert_refused;
mod command_convert_tables;
/// Databases and cache folders that are locked, foreign, newer or missing.
mod command_database;
/// `scorebox run --events`: the events of a run, as JSON Lines.
mod command_events;
/// `export`: the scores of a run as a table.
mod command_export;
/// Cases whose task failed: the key `error`.
mod command_failed_tasks;
/// `scorebox index`: an index of scorers in real registries, and scorers that differ from it.
mod command_index;
/// Devices, pipes and files without end in place of suites, cases and scorers.
mod command_input_files;
/// Budgets of judges in US dollars, and conditions under which they cannot be kept.
mod command_judge_budgets;
/// Extra fields that a user sends to a judge.
mod command_judge_extras;
/// The advice of a run about refused questions and unreadable answers.
mod command_judge_hints;
/// Answers that were paid for without becoming a score.
mod command_judge_paid;
mod command_judge_recordings;
/// Two judges that are asked the same question at the same time.
mod command_judge_sharing;
/// Signals while judges are asked: questions that are no longer sent, and programs that end.
mod command_judge_stopping;
/// Receipts and rows of scores that asked a judge.
mod command_judged_receipts;
/// Scorers that ask language models: recordings, budgets, failures, `calls` and `judges`.
mod command_judges;
mod command_juries;
/// `scorebox leaderboard`: entrants, ties, strategies, attempts that failed.
mod command_leaderboard;
/// `scorebox leaderboard`: what an attempt reports about itself.
mod command_leaderboard_attempts;
/// `scorebox live`: standard input.
mod command_live;
mod command_live_database;
/// `scorebox live --follow`: files that grow.
mod command_live_follow;
/// Locks of suites, and `scorebox fetch`.
mod command_locks;
/// `scorebox merge`: the shards of a run, merged.
mod command_merge;
/// `migrate`: a promptfoo configuration becomes a suite.
mod command_migrate;
/// How runs, scorers and places are named.
mod command_names;
/// `scorebox new`: the files that it writes work.
mod command_new;
mod command_on;
mod command_options;
/// `[policy]`, in a suite and in the user's configuration, and `--locked`.
mod command_policy;
/// `scorebox publish`: publishes a scorer to a real registry.
mod command_publish;
mod command_python;
/// Python scripts that ask a judge.
mod command_python_judges;
/// `scorebox scores`, `stats`, `scorers`, `inspect`, and pipes.
mod command_reading;
/// `scorebox rm`: runs that go and runs that stay.
mod command_remove;
/// `scorebox repeats`: cases with more than one attempt.
mod command_repeats;
/// Reports of a run for other programs.
mod command_report;
/// The report as an HTML page, in a real browser.
mod command_report_html;
/// Scorers of the results of others: `meta`, and targets.
mod command_results;
/// `scorebox run` that is interrupted, killed and resumed.
mod command_resume;
mod command_resume_signals;
/// `scorebox run --reuse`: scores that are copied, and scores that are computed.
mod command_reuse;
/// `scorebox run`: its summary, rows and options.
mod command_run;
/// Sampling, nodes and cases to be skipped.
mod command_sampling;
/// `scorebox score`: one case, with the result as JSON.
mod command_score;
/// `scorebox score` and `inspect` with scorers that ask a judge.
mod command_score_judges;
/// Scripts as scorers: scored, run, built, verified.
mod command_script;
/// The imports of scripts.
mod command_script_imports;
/// Scripts that ask a judge.
mod command_script_judges;
/// `scorebox search`: built-in scorers, and indexes of published ones.
mod command_search;
/// `scorebox serve`: pages in a real browser, and who may see them.
mod command_serve;
/// `scorebox serve` over time: what changes under an open page, many tabs, and the end.
mod command_serve_following;
/// `scorebox shard`: a run in parts.
mod command_shard;
/// Signatures of published scorers, and how they are checked.
mod command_signing;
/// `scorebox suite`, and the suites that suite files resolve to.
mod command_suite;
/// Summaries of scorers over all cases of a run.
mod command_summaries;
/// `scorebox run --otlp`, and the sink for programs: what a collector receives.
mod command_telemetry;
/// `scorebox run` with OpenTelemetry collectors that are slow or misbehave.
mod command_telemetry_failures;
/// `scorebox trend`: one scorer over many runs.
mod command_trend;
/// Runs that stopped or were interrupted, in reports, figures and tables.
mod command_unanswered;
mod command_unfinished;
/// `scorebox outdated` and `update`.
mod command_update;
/// Verdicts, requirements, `scorebox cases` and `scorebox show`.
mod command_verdict;
mod command_verdict_gates;
mod command_verdict_undecided;
/// `scorebox verify`: scores computed again, tampering, receipts.
mod command_verify;
/// `when`: selects the cases of a scorer by their contents.
mod command_when;
/// `--grant NAME=workspace`: the files that a task wrote.
mod command_workspace;
/// The built-in scorers against the results of other programs, row by row.
mod conformance;
/// The scorer in docs/sdk.md.
mod documented_scorer;
/// The library embedded in a program: an engine, its scorers, a run and its events.
mod embedding;
/// The library with a judge that the program implements.
mod embedding_judges;
/// The library's `score_batch` and `score_live`: answers in memory, and scores in the background.
mod embedding_live;
/// A folder in which the `command_` tests run commands of the real binary.
mod fixture;
/// Recordings of a judge that someone changed in the database.
mod forged_recordings;
/// A full disk while a component or a bundle is written.
mod full_disk;
/// The examples of the built-in scorers, and the page about them.
mod gallery;
/// Invalid scores, endless texts, invalid JSON, and characters that a terminal acts on.
mod hostile_answers;
/// Bundles that a stranger may have made.
mod hostile_bundles;
/// Broken heaps, stacks, pointers and lengths, in C.
mod hostile_c;
/// Planted and exchanged code in the cache, and files there that never end.
mod hostile_cache;
/// Code that takes minutes and gigabytes to compile.
mod hostile_compiling;
/// Endless loops and recursions.
mod hostile_computing;
/// Panics, traps, and reaching for memory that does not exist.
mod hostile_crashes;
/// Databases that an attacker prepared, and changes that try to stay unnoticed.
mod hostile_databases;
/// Component files that no compiler makes, for the `hostile_` tests.
mod hostile_files;
/// A folder with the attackers in it, in which commands are watched.
mod hostile_fixture;
/// Imports without a grant, and what a grant allows.
mod hostile_imports;
/// Indexes of scorers that are unsigned, older, changed, endless or contradict each other.
mod hostile_indexes;
/// Exceptions, regular expressions, values of any type, in JavaScript.
mod hostile_javascript;
/// Endless logs, and messages that look like the engine's own.
mod hostile_logs;
/// More memory than there is.
mod hostile_memory;
/// Scorers whose core module is written by hand, for the `hostile_` tests.
mod hostile_modules;
/// A folder with an attacker in another language and a good scorer.
mod hostile_other_languages;
mod hostile_python;
/// Scripts that return nonsense, never end, break the language, or are no scripts.
mod hostile_scripts;
/// False statements in `describe`.
mod hostile_self_descriptions;
/// Files that are too deep, have too many of something, or are too large.
mod hostile_shapes;
/// Attempts to keep something from one case to the next.
mod hostile_state;
/// Attacks at the end of a run.
mod hostile_summaries;
/// Nothing continues after a time-out.
mod hostile_time_outs;
/// Values that break the rules of the contract.
mod hostile_values;
/// The same attacks without address space for a pool.
mod hostile_without_a_pool;
/// Indexes of scorers on a web server, and the folder of a user who searches them.
mod index_shelf;
/// A folder with a suite whose scorers ask a judge.
mod judge_fixture;
/// Published verdicts of judges, replayed from the recordings of an example.
mod judged_example;
/// Published grades of a judge, asked once and replayed.
mod judged_grades;
/// Outputs that try to act as the judge, or to exhaust it.
mod judged_hostile;
/// Instances that are reset after each score: nothing of a score reaches the next one.
mod kept_instances;
/// The same scorer in every language.
mod languages;
/// Shared parts of the tests of `scorebox live`.
mod live_fixture;
/// A server of OpenAI's protocol that answers as a test requires.
mod model_server;
/// A real OCI registry, for the tests of publishing and adding.
mod oci_registry;
/// The same component, configuration and input give the same bytes.
mod repeatability;
/// A run from cases to rows, through the library: workers, resuming, bad cases, failing writers.
mod run_pipeline;
/// The built-in components on tables of cases.
mod sandbox_builtins;
/// The cache of compiled code, whole and damaged.
mod sandbox_cache;
/// Sandboxes and loaded scorers for the `sandbox_` and `run_` tests.
mod sandbox_fixture;
/// Nothing survives a score; the same case gives the same score and fuel.
mod sandbox_isolation;
/// Every kind of error, produced by a real guest.
mod sandbox_limits;
/// Files that are not scorers, and imports that a scorer may not have.
mod sandbox_loading;
/// A registry, and the folder of a user who adds scorers from it to a suite.
mod scorer_desk;
/// Parquet files for the tests of shards.
mod shard_fixture;
/// A suite and cases for the tests of shards.
mod shard_suite;
/// Code compiled once and code frozen with its memory: the same scores, to the last unit of fuel.
mod split_and_whole;
mod split_and_whole_memory;
/// A small run of every outcome, for the tests of reports and pages.
mod sums_fixture;
/// Resources that the system does not give a process.
mod system_limits;
/// Traps that are detected by checks and not by signals.
mod traps_by_checks;
/// A web server on the loopback interface.
mod web_server;
