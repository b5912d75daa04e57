-- Schema 12: lines that are in no case.

-- Lines that are not valid cases and were skipped. 0: there are none, the run has not ended, or it is older than schema 12.
ALTER TABLE runs ADD COLUMN cases_bad INTEGER NOT NULL DEFAULT 0 CHECK (cases_bad >= 0);
