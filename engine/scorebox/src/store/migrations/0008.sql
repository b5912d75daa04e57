-- Schema 8: what scorers ask judges.

-- What decides the answers of the judge that a scorer asks, as JSON: provider, place, models, temperature. NULL: it asks none.
ALTER TABLE scorers ADD COLUMN judge_json TEXT;

-- A question to a language model and an answer to it, once for all scores that stand on it. A call that was asked again has
-- several.
CREATE TABLE calls (
    call           INTEGER PRIMARY KEY,
    -- Names the call: provider, place, question, iteration and attempt.
    digest         BLOB NOT NULL CHECK (length(digest) = 32),
    -- Names the answer: all that the scorer was given.
    reply_digest   BLOB NOT NULL CHECK (length(reply_digest) = 32),
    -- The provider's kind and place, the question, and the case's iteration and attempt, as JSON.
    call_json      TEXT NOT NULL,
    -- What the model said, as JSON.
    reply_json     TEXT NOT NULL,
    -- The model that answered, as its provider names it.
    model          TEXT NOT NULL,
    -- Tokens of the question and of the answer; NULL: the provider does not say.
    input_tokens   INTEGER,
    output_tokens  INTEGER,
    -- US dollars; NULL: not known.
    cost_usd       REAL,
    -- Milliseconds from the first attempt to the answer.
    latency_ms     REAL NOT NULL,
    -- How often the provider was asked.
    attempts       INTEGER NOT NULL,
    -- Milliseconds since 1970 UTC.
    answered_at_ms INTEGER NOT NULL,
    UNIQUE (digest, reply_digest)
) STRICT;

-- The calls that a score stands on, in the order in which they were asked.
CREATE TABLE score_calls (
    case_key     INTEGER NOT NULL,
    scorer       INTEGER NOT NULL,
    place        INTEGER NOT NULL,
    digest       BLOB NOT NULL CHECK (length(digest) = 32),
    reply_digest BLOB NOT NULL CHECK (length(reply_digest) = 32),
    -- Whether the answer was recorded before this score asked.
    is_recorded  INTEGER NOT NULL CHECK (is_recorded IN (0, 1)),
    PRIMARY KEY (case_key, scorer, place),
    FOREIGN KEY (case_key, scorer) REFERENCES score_rows (case_key, scorer)
) STRICT, WITHOUT ROWID;

CREATE INDEX score_calls_digest ON score_calls (digest, reply_digest);
