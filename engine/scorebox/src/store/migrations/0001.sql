-- Schema 1: runs, their scorers, their cases, their score rows, and the views that people read.
--
-- Rules for every script in this folder: a released script is never edited, a change is a new
-- script; a script runs inside the transaction of `schema.rs`, so it holds no BEGIN and no COMMIT.
-- All times are milliseconds since 1970-01-01 UTC. JSON is kept as text, byte for byte as it came.

-- One row for each run: a suite over cases.
CREATE TABLE runs (
    run              INTEGER PRIMARY KEY CHECK (run BETWEEN 1 AND 4194303), -- internal number; 22 bits, see cases.case_key
    id               TEXT NOT NULL UNIQUE    -- the run's name to people: 1 to 64 of A-Za-z0-9._-
                     CHECK (length(id) BETWEEN 1 AND 64 AND id NOT GLOB '*[^A-Za-z0-9._-]*'),
    suite_name       TEXT,                   -- what the suite calls itself; NULL where there was no suite file
    suite_json       TEXT NOT NULL,          -- the resolved plan: everything that decided what was scored and how
    suite_digest     BLOB NOT NULL CHECK (length(suite_digest) = 32), -- sha-256 of the plan
    engine_version   TEXT NOT NULL,          -- version of scorebox that created the run
    wasmtime_version TEXT NOT NULL,          -- version of the WebAssembly engine in it
    contract_version TEXT NOT NULL,          -- version of the scorer contract (the WIT package)
    source           TEXT NOT NULL CHECK (source IN ('live', 'batch')),
    state            TEXT NOT NULL           -- 'running' is also what a killed run says
                     CHECK (state IN ('running', 'finished', 'interrupted', 'stopped')),
    state_reason     TEXT,                   -- why it was interrupted or stopped, for a person
    created_at_ms    INTEGER NOT NULL,
    finished_at_ms   INTEGER,                -- when it stopped running; NULL while it runs
    CHECK ((state = 'running') = (finished_at_ms IS NULL))
) STRICT;

-- The scorers of a run, in the suite's order.
CREATE TABLE scorers (
    scorer            INTEGER PRIMARY KEY,   -- internal number; ascends in the suite's order
    run               INTEGER NOT NULL REFERENCES runs (run),
    scorer_id         TEXT NOT NULL          -- the suite's key for it; no ':', which separates the parts of a score id
                      CHECK (scorer_id <> '' AND instr(scorer_id, ':') = 0),
    name              TEXT NOT NULL,         -- for people
    component_id      TEXT NOT NULL,         -- what the component calls itself
    component_version TEXT NOT NULL,         -- the version that the component claims
    component_digest  BLOB NOT NULL CHECK (length(component_digest) = 32), -- sha-256 of the component's bytes
    component_origin  TEXT NOT NULL,         -- where the bytes came from: built-in, a file, a registry
    config_json       TEXT NOT NULL,         -- the configuration that `configure` was given
    config_digest     BLOB NOT NULL CHECK (length(config_digest) = 32), -- sha-256 of the configuration
    limits_json       TEXT NOT NULL,         -- fuel, memory, time and output limits that it ran under
    info_json         TEXT NOT NULL,         -- what `describe` answered
    scale             TEXT NOT NULL CHECK (scale IN ('unit', 'points')),
    direction         TEXT NOT NULL CHECK (direction IN ('higher-is-better', 'lower-is-better')),
    severity          TEXT NOT NULL CHECK (severity IN ('gate', 'soft')),
    threshold         REAL,                  -- the worst score that passes; NULL: none was set
    frozen            INTEGER NOT NULL CHECK (frozen IN (0, 1)), -- 1: `configure` ran once, 0: in every sandbox
    UNIQUE (run, scorer_id)
) STRICT;

-- The cases of a run, each stored once, however many scorers judge it.
--
-- case_key is computed from the run and the ordinal. So a case's key is the same in every session
-- and on every machine, the cases and scores of one run lie side by side in the order they were
-- read, and "all rows of a run" is a range of keys that needs no index.
CREATE TABLE cases (
    case_key      INTEGER PRIMARY KEY,       -- run * 2^40 + ordinal
    run           INTEGER NOT NULL REFERENCES runs (run),
    ordinal       INTEGER NOT NULL           -- place among all cases of the run, from 0
                  CHECK (ordinal BETWEEN 0 AND 1099511627775),
    case_id       TEXT NOT NULL CHECK (case_id <> ''), -- the case's own id
    node_id       TEXT,                      -- the task that produced the output
    iteration     INTEGER NOT NULL CHECK (iteration >= 0),
    attempt       INTEGER NOT NULL CHECK (attempt >= 0),
    source_name   TEXT NOT NULL,             -- the file it was read from, as the user named it; '-' for stdin
    source_line   INTEGER NOT NULL,          -- its line there, from 1
    latency_ms    REAL,                      -- how long the task took
    digest        BLOB NOT NULL CHECK (length(digest) = 32), -- sha-256 of the case as it was read
    input         TEXT,                      -- this and all below: JSON as it was read; NULL where the case lacks it
    output        TEXT NOT NULL,
    ground_truth  TEXT,
    context       TEXT,
    output_schema TEXT,
    trace         TEXT,
    usage         TEXT,
    metadata      TEXT,
    baseline      TEXT,
    other_json    TEXT,                      -- an object of the keys that scorebox does not know
    UNIQUE (run, case_id, iteration, attempt),
    CHECK (case_key = (run << 40) + ordinal)
) STRICT;

CREATE INDEX cases_by_node ON cases (node_id) WHERE node_id IS NOT NULL;

-- What one scorer said of one case. The primary key is why a score can't be written twice.
-- Small columns first: a scan for statistics reads these and skips the text behind them.
CREATE TABLE score_rows (
    case_key        INTEGER NOT NULL REFERENCES cases (case_key),
    scorer          INTEGER NOT NULL REFERENCES scorers (scorer),
    status          TEXT NOT NULL CHECK (status IN ('scored', 'not-applicable', 'skipped', 'error')),
    score           REAL,                    -- finite, 0 or more; in every scored row and in no other
    fuel            INTEGER CHECK (fuel >= 0), -- wasm fuel that it used; NULL where nothing ran
    memory_bytes    INTEGER CHECK (memory_bytes >= 0), -- the sandbox's peak linear memory; NULL where nothing ran
    duration_ms     REAL NOT NULL CHECK (duration_ms >= 0.0), -- how long the scorer took
    scored_at_ms    INTEGER NOT NULL,
    error_kind      TEXT,                    -- the engine's word for what went wrong; in every error row and in no other
    error_message   TEXT,                    -- what the user is told; in every error row and in no other
    label           TEXT,                    -- a category that goes with the answer
    reason          TEXT,                    -- why, for a person
    meta_json       TEXT,                    -- the scorer's own JSON
    assertions_json TEXT,                    -- array of the checks that the score is made of; NULL: none
    log_json        TEXT,                    -- array of what the scorer logged; NULL: nothing
    PRIMARY KEY (case_key, scorer),
    CHECK ((status = 'scored') = (score IS NOT NULL)),
    CHECK (score IS NULL OR score BETWEEN 0.0 AND 1.7976931348623157e308),
    CHECK ((status = 'error') = (error_kind IS NOT NULL)),
    CHECK ((status = 'error') = (error_message IS NOT NULL)),
    CHECK (status = 'scored' OR assertions_json IS NULL)
) STRICT, WITHOUT ROWID;

CREATE INDEX score_rows_errors ON score_rows (case_key) WHERE status = 'error';

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
    score_rows.fuel,
    score_rows.memory_bytes,
    scorers.severity,
    scorers.threshold,
    runs.source,
    score_rows.scored_at_ms,
    score_rows.duration_ms,
    cases.latency_ms
FROM score_rows
JOIN cases ON cases.case_key = score_rows.case_key
JOIN scorers ON scorers.scorer = score_rows.scorer
JOIN runs ON runs.run = cases.run;

-- The 16 columns of Smithers' table of the same name, in its order. A scored row is a row there.
CREATE VIEW _smithers_scorers AS
SELECT
    runs.id || ':' || scorers.scorer_id || ':' || cases.iteration || ':' || cases.attempt
        || ':' || cases.case_id AS id,
    runs.id AS run_id,
    cases.node_id,
    cases.iteration,
    cases.attempt,
    scorers.scorer_id,
    scorers.name AS scorer_name,
    runs.source,
    score_rows.score,
    score_rows.reason,
    score_rows.meta_json,
    cases.input AS input_json,
    cases.output AS output_json,
    cases.latency_ms,
    score_rows.scored_at_ms,
    score_rows.duration_ms
FROM score_rows
JOIN cases ON cases.case_key = score_rows.case_key
JOIN scorers ON scorers.scorer = score_rows.scorer
JOIN runs ON runs.run = cases.run
WHERE score_rows.status = 'scored';
