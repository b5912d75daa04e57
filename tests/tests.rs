//! The table of contents of scorebox's tests: end to end, with real components, real SQLite files and
//! the real binary. What belongs to one room alone is tested beside its code.

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
/// `scorebox agree`: scores against labels and other scorers.
mod command_agree;
mod command_agree_labels;
mod command_agree_people;
/// `scorebox audit`: published scorers held against lock, policies and their own word.
mod command_audit;
/// `scorebox run` and `score` with invalid scorers, suites and cases.
mod command_bad_input;
mod command_build;
/// `scorebox build` of other languages than Rust: compilers that are missing, old or fail, and modules that are no
/// scorers.
mod command_build_languages;
mod command_build_watch;
/// `scorebox bundle`: a suite with its components in one file, and what runs it.
mod command_bundle;
/// `scorebox card`: the page of a scorer, and that others get the same figures.
mod command_card;
mod command_card_refused;
mod command_case_files;
/// `scorebox compare` and `stats --ci`: two runs, and how sure a mean is.
mod command_compare;
mod command_compare_unlike;
/// `scorebox compile`: a suite's scorers ahead of its runs.
mod command_compile;
/// `scorebox completions`: what shells are offered, in a real bash.
mod command_completions;
/// Files of other tools as cases: `convert`, and `run` over them.
mod command_convert;
mod command_convert_refused;
mod command_convert_tables;
/// Databases and cache folders that are locked, foreign, newer or missing.
mod command_database;
/// `scorebox run --events`: what happens in a run, as JSON Lines.
mod command_events;
/// `export`: the scores of a run as a table.
mod command_export;
/// Cases whose task failed: the key `error`.
mod command_failed_tasks;
/// `scorebox index`: an index of what real registries have, and scorers that differ from it.
mod command_index;
/// Devices, pipes and files without end in place of suites, cases and scorers.
mod command_input_files;
/// Budgets of judges in US dollars, and what makes them impossible to keep.
mod command_judge_budgets;
/// What a user has sent to a judge beside what the protocol needs.
mod command_judge_extras;
/// What a run says to do about refused questions and unreadable answers.
mod command_judge_hints;
/// Answers that were paid for, and are no score.
mod command_judge_paid;
mod command_judge_recordings;
/// Two judges that are asked the same question at once.
mod command_judge_sharing;
/// Signals while judges are asked: what is not sent any more, and programs that end.
mod command_judge_stopping;
/// Receipts and rows of scores that asked a judge.
mod command_judged_receipts;
/// Scorers that ask language models: recordings, budgets, trouble, `calls` and `judges`.
mod command_judges;
mod command_juries;
/// `scorebox leaderboard`: entrants, ties, strategies, attempts that failed.
mod command_leaderboard;
/// `scorebox leaderboard`: what an attempt says about itself.
mod command_leaderboard_attempts;
/// `scorebox live`: standard input.
mod command_live;
mod command_live_database;
/// `scorebox live --follow`: files that grow.
mod command_live_follow;
/// Locks of suites, and `scorebox fetch`.
mod command_locks;
/// `scorebox merge`: the parts of a run together.
mod command_merge;
/// `migrate`: a configuration of promptfoo as a suite.
mod command_migrate;
/// How runs, scorers and places are named.
mod command_names;
/// `scorebox new`: what it makes works.
mod command_new;
mod command_on;
mod command_options;
/// `[policy]`, in a suite and in the user's configuration, and `--locked`.
mod command_policy;
/// `scorebox publish`: a scorer to a real registry.
mod command_publish;
mod command_python;
/// Python scripts that ask a judge.
mod command_python_judges;
/// `scorebox scores`, `stats`, `scorers`, `inspect`, and pipes.
mod command_reading;
/// `scorebox rm`: runs that go and runs that stay.
mod command_remove;
/// `scorebox repeats`: cases that were tried more than once.
mod command_repeats;
/// Reports of a run for other programs.
mod command_report;
/// The report that is a page, in a real browser.
mod command_report_html;
/// Scorers of the results of others: `meta`, and targets.
mod command_results;
/// `scorebox run` that is interrupted, killed and resumed.
mod command_resume;
mod command_resume_signals;
/// `scorebox run --reuse`: what is copied, and what is computed.
mod command_reuse;
/// `scorebox run`: summary, rows, and what its options do.
mod command_run;
/// Sampling, nodes and cases to be skipped.
mod command_sampling;
/// `scorebox score`: one case, the result as JSON.
mod command_score;
/// One score, and an inspection, of scorers that ask a judge.
mod command_score_judges;
/// Scripts as scorers: scored, run, built, verified.
mod command_script;
/// What scripts import.
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
/// Signatures of published scorers, and what is made of them.
mod command_signing;
/// `scorebox suite`, and what suite files resolve to.
mod command_suite;
/// What scorers say about all cases of a run together.
mod command_summaries;
/// `scorebox run --otlp`, and the sink of a program: what a collector is sent.
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
/// `when`: which cases a scorer is for, by what they hold.
mod command_when;
/// `--grant NAME=workspace`: the files that a task left.
mod command_workspace;
/// The built-in scorers against what other programs answered, row by row.
mod conformance;
/// The scorer that docs/sdk.md shows.
mod documented_scorer;
/// The library as a program embeds it: an engine, its scorers, a run and its events.
mod embedding;
/// The library with a judge of the program's own.
mod embedding_judges;
/// The library's `score_batch` and `score_live`: answers in hand, and scores in the background.
mod embedding_live;
/// A folder in which the `command_` tests type commands of the real binary.
mod fixture;
/// Recordings of a judge that somebody changed in the database.
mod forged_recordings;
/// A disk that takes no more while a component or a bundle is written.
mod full_disk;
/// The built-in scorers' examples, and the page about them.
mod gallery;
/// Invalid scores, endless texts, invalid JSON, and characters that a terminal acts on.
mod hostile_answers;
/// Bundles that a stranger made.
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
/// Databases that an attacker prepared, and changes that try to go unnoticed.
mod hostile_databases;
/// Component files that no compiler makes, for the `hostile_` tests.
mod hostile_files;
/// A folder with the attackers in it, where commands are watched.
mod hostile_fixture;
/// Imports without a grant, and what a grant gives.
mod hostile_imports;
/// Indexes of scorers that are unsigned, older, changed, endless or contradict each other.
mod hostile_indexes;
/// Exceptions, regular expressions, values of any type, in JavaScript.
mod hostile_javascript;
/// Endless logs, and words that look like the engine's own.
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
/// Lies in `describe`.
mod hostile_self_descriptions;
/// Files that are too deep, have too many of something, or are too large.
mod hostile_shapes;
/// Keeping something from one case to the next.
mod hostile_state;
/// Attacks at the end of a run.
mod hostile_summaries;
/// Nothing continues after a time-out.
mod hostile_time_outs;
/// Values that break the rules of the contract.
mod hostile_values;
/// The same without address space for a pool.
mod hostile_without_a_pool;
/// Indexes of scorers on a web server, and a folder of a user who searches them.
mod index_shelf;
/// A folder with a suite whose scorers ask a judge.
mod judge_fixture;
/// Published verdicts of judges, replayed from the recordings of an example.
mod judged_example;
/// Published grades of a judge, asked once and replayed.
mod judged_grades;
/// Outputs that try to be the judge, or to wear it out.
mod judged_hostile;
/// Instances that are set back after each score: nothing of it is in the next.
mod kept_instances;
/// The same scorer in every language.
mod languages;
/// What the tests of `scorebox live` have in common.
mod live_fixture;
/// A server of OpenAI's protocol, as tests want it to answer.
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
/// Every kind of error, reached for real.
mod sandbox_limits;
/// Files that are not scorers, and what a scorer may not import.
mod sandbox_loading;
/// A registry, and a folder of a user who adds scorers from it to a suite.
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
/// What the system does not give a process.
mod system_limits;
/// Traps that are noticed by checks and not by signals.
mod traps_by_checks;
/// A web server on the loopback interface.
mod web_server;
