-- Schema 7: how large a run is.

-- The bytes of the run's cases and score rows, as `store/size.rs` counts them. NULL: the run has not ended, or an older
-- scorebox ended it.
ALTER TABLE runs ADD COLUMN size_bytes INTEGER CHECK (size_bytes IS NULL OR size_bytes >= 0);
