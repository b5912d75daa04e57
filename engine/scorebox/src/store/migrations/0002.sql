-- Schema 2: what is needed to compute a score again (receipts), what was reused, and what scorers say
-- of a whole run.

-- The components of all runs, each stored once, so that a database alone is enough to verify a run.
CREATE TABLE components (
    component INTEGER PRIMARY KEY,
    digest    BLOB NOT NULL UNIQUE CHECK (length(digest) = 32), -- sha-256 of the bytes
    bytes     BLOB NOT NULL                -- the component as it was given, before anything was frozen
) STRICT;

-- One process's work on a run: a run that was resumed has several, and they may differ in version.
CREATE TABLE sessions (
    session          INTEGER PRIMARY KEY,
    run              INTEGER NOT NULL REFERENCES runs (run),
    engine_version   TEXT NOT NULL,        -- version of scorebox
    wasmtime_version TEXT NOT NULL,        -- version of the WebAssembly engine in it; fuel is only comparable within one
    host             TEXT NOT NULL,        -- processor and operating system, such as x86_64-linux
    started_at_ms    INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_by_run ON sessions (run);

-- What the user granted the scorer beyond the contract: a JSON array of words.
ALTER TABLE scorers ADD COLUMN grants_json TEXT NOT NULL DEFAULT '[]';

-- sha-256 of what the scorer was fed of the case. NULL: written by schema 1, or nothing ran.
ALTER TABLE score_rows ADD COLUMN input_digest BLOB
    CHECK (input_digest IS NULL OR length(input_digest) = 32);
-- The session that computed the score; of another run where it was reused. NULL: written by schema 1.
ALTER TABLE score_rows ADD COLUMN session INTEGER REFERENCES sessions (session);
-- The row that this one is a copy of, where it was not computed again: its case and its scorer.
ALTER TABLE score_rows ADD COLUMN reused_case INTEGER;
ALTER TABLE score_rows ADD COLUMN reused_scorer INTEGER;

CREATE INDEX score_rows_reused ON score_rows (case_key) WHERE reused_case IS NOT NULL;

-- What a scorer said of a run as a whole, at its end.
CREATE TABLE summaries (
    scorer         INTEGER PRIMARY KEY REFERENCES scorers (scorer),
    summary_json   TEXT,                   -- the scorer's JSON; NULL where there is an error
    error_kind     TEXT,                   -- the engine's word for what went wrong
    error_message  TEXT,                   -- what the user is told
    fuel           INTEGER CHECK (fuel >= 0),
    duration_ms    REAL NOT NULL CHECK (duration_ms >= 0.0),
    log_json       TEXT,                   -- array of what the scorer logged; NULL: nothing
    computed_at_ms INTEGER NOT NULL,
    CHECK ((summary_json IS NULL) = (error_kind IS NOT NULL)),
    CHECK ((error_kind IS NULL) = (error_message IS NULL))
) STRICT;

DROP VIEW scores;

-- Every score row with the words that people use: what `scorebox scores` shows, for any SQL tool.
CREATE VIEW scores AS
SELECT
    runs.id || ':' || scorers.scorer_id || ':' || cases.iteration || ':' || cases.attempt
        || ':' || cases.case_id AS id,       -- RUN:SCORER:ITERATION:ATTEMPT:CASE; only the last part may hold ':'
    runs.id AS run_id,
    cases.case_id,
    cases.node_id,
    cases.iteration,
    cases.attempt,
    scorers.scorer_id,
    scorers.name AS scorer_name,
    score_rows.status,
    score_rows.error_kind,
    score_rows.error_message,
    score_rows.score,
    score_rows.label,
    score_rows.reason,
    score_rows.meta_json,
    score_rows.assertions_json,
    score_rows.log_json,
    lower(hex(scorers.component_digest)) AS scorer_digest,
    lower(hex(scorers.config_digest)) AS config_digest,
    iif(score_rows.input_digest IS NULL, NULL, lower(hex(score_rows.input_digest))) AS input_digest,
    score_rows.fuel,
    score_rows.memory_bytes,
    scorers.severity,
    scorers.threshold,
    runs.source,
    score_rows.scored_at_ms,
    score_rows.duration_ms,
    cases.latency_ms,
    coalesce(sessions.engine_version, runs.engine_version) AS engine_version,
    coalesce(sessions.wasmtime_version, runs.wasmtime_version) AS wasmtime_version,
    (SELECT origin_runs.id || ':' || origin_scorers.scorer_id || ':' || origin.iteration || ':'
            || origin.attempt || ':' || origin.case_id
        FROM cases AS origin
        JOIN runs AS origin_runs ON origin_runs.run = origin.run
        JOIN scorers AS origin_scorers ON origin_scorers.scorer = score_rows.reused_scorer
        WHERE origin.case_key = score_rows.reused_case) AS reused_from -- the id of the row that this is a copy of
FROM score_rows
JOIN cases ON cases.case_key = score_rows.case_key
JOIN scorers ON scorers.scorer = score_rows.scorer
JOIN runs ON runs.run = cases.run
LEFT JOIN sessions ON sessions.session = score_rows.session;
