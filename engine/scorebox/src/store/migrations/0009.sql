-- Schema 9: the rules for a score row are two expressions, because each rule by itself is a program that runs for every row. They
-- accept the same rows as before, so only the table's definition is replaced, and no row is touched.

PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql = 'CREATE TABLE score_rows (
    case_key        INTEGER NOT NULL REFERENCES cases (case_key),
    scorer          INTEGER NOT NULL REFERENCES scorers (scorer),
    status          TEXT NOT NULL,           -- ''scored'', ''not-applicable'', ''skipped'' or ''error''
    score           REAL,                    -- finite, 0 or more; in every scored row and in no other
    fuel            INTEGER,                 -- wasm fuel that it used; NULL where nothing ran
    memory_bytes    INTEGER,                 -- the sandbox''s peak linear memory; NULL where nothing ran
    duration_ms     REAL NOT NULL,           -- how long the scorer took
    scored_at_ms    INTEGER NOT NULL,
    error_kind      TEXT,                    -- the engine''s word for what went wrong; in every error row and in no other
    error_message   TEXT,                    -- what the user is told; in every error row and in no other
    label           TEXT,                    -- a category that goes with the answer
    reason          TEXT,                    -- why, for a person
    meta_json       TEXT,                    -- the scorer''s own JSON
    assertions_json TEXT,                    -- array of the checks that the score is made of; NULL: none
    log_json        TEXT,                    -- array of what the scorer logged; NULL: nothing
    input_digest    BLOB,                    -- sha-256 of what the scorer was given; NULL where nothing ran
    session         INTEGER REFERENCES sessions (session), -- the session that computed it
    reused_case     INTEGER,                 -- the row that it is a copy of: its case and
    reused_scorer   INTEGER,                 -- its scorer
    PRIMARY KEY (case_key, scorer),
    CONSTRAINT status_and_columns_agree CHECK (CASE status
        WHEN ''scored'' THEN score IS NOT NULL AND error_kind IS NULL AND error_message IS NULL
        WHEN ''error'' THEN error_kind IS NOT NULL AND error_message IS NOT NULL AND score IS NULL AND assertions_json IS NULL
        WHEN ''not-applicable'' THEN coalesce(score, error_kind, error_message, assertions_json) IS NULL
        WHEN ''skipped'' THEN coalesce(score, error_kind, error_message, assertions_json) IS NULL
        ELSE 0
    END),
    CONSTRAINT values_in_range CHECK (score BETWEEN 0.0 AND 1.7976931348623157e308
        AND fuel >= 0 AND memory_bytes >= 0 AND duration_ms >= 0.0 AND length(input_digest) = 32)
) STRICT, WITHOUT ROWID'
WHERE type = 'table' AND name = 'score_rows';

PRAGMA writable_schema = RESET;

-- Creating and dropping a view changes the schema's version, so that other connections read the schema again.
CREATE VIEW redefined AS SELECT 1;
DROP VIEW redefined;
