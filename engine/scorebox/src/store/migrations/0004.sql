-- Schema 4: one digest of all that a run holds, which can be published.

-- The root of the run: a digest of the run, its scorers, sessions, summaries, cases and score rows, as
-- `store/root.rs` puts them together. NULL: the run has not ended, or an older scorebox ended it.
ALTER TABLE runs ADD COLUMN root BLOB CHECK (root IS NULL OR length(root) = 32);
-- The version of the way in which the root is put together.
ALTER TABLE runs ADD COLUMN root_version INTEGER;
