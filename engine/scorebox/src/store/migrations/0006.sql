-- Schema 6: scorers that are for some cases by what these hold, and scorers of the results of others.

-- The id of the scorer of the same run whose results it scores; NULL: it scores the cases.
ALTER TABLE scorers ADD COLUMN subject TEXT;
-- The scorer that decides which cases this one is for, as its `when` has it: its component, its configuration and its
-- limits. NULL: all of them.
ALTER TABLE scorers ADD COLUMN condition_digest BLOB
    CHECK (condition_digest IS NULL OR length(condition_digest) = 32);
ALTER TABLE scorers ADD COLUMN condition_config_json TEXT
    CHECK ((condition_digest IS NULL) = (condition_config_json IS NULL));
ALTER TABLE scorers ADD COLUMN condition_limits_json TEXT
    CHECK ((condition_digest IS NULL) = (condition_limits_json IS NULL));
