-- Schema 10: cases whose task failed.

-- Why there is no answer, because the task failed; NULL: it did not, or the case was stored before schema 10, when no scorer was told.
ALTER TABLE cases ADD COLUMN error TEXT;
