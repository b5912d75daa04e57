-- Schema 13: what a run asked judges, whatever is stored of its scores.

-- The answers that a run's scorer asked for and got. A score that ended without a row (a budget was spent, the process was
-- killed) leaves no other trace of what was paid for it.
CREATE TABLE run_calls (
    scorer       INTEGER NOT NULL REFERENCES scorers (scorer),
    digest       BLOB NOT NULL CHECK (length(digest) = 32),
    reply_digest BLOB NOT NULL CHECK (length(reply_digest) = 32),
    -- How often a provider gave this answer. 0: it is from a file of recordings.
    times        INTEGER NOT NULL CHECK (times >= 0),
    PRIMARY KEY (scorer, digest, reply_digest)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_calls_digest ON run_calls (digest, reply_digest);
