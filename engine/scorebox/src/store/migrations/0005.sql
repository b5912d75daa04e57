-- Schema 5: what a suite decides in addition to configurations: which cases a scorer is for, and how its scores count.

-- What sampling is drawn with. NULL: written before schema 5.
ALTER TABLE runs ADD COLUMN seed TEXT;

-- What the component declares; `severity` and `threshold` are what counts. NULL: written before schema 5, when
-- what the component declares counted.
ALTER TABLE scorers ADD COLUMN declared_severity TEXT
    CHECK (declared_severity IS NULL OR declared_severity IN ('gate', 'soft'));
-- The worst score that passes as the component declares it; NULL also where it declares none.
ALTER TABLE scorers ADD COLUMN declared_threshold REAL;
-- 1: the suite made the scorer soft, and the gates among its assertions with it.
ALTER TABLE scorers ADD COLUMN softened INTEGER NOT NULL DEFAULT 0 CHECK (softened IN (0, 1));
-- The weight of its scores in the score of a case.
ALTER TABLE scorers ADD COLUMN weight REAL NOT NULL DEFAULT 1.0
    CHECK (weight BETWEEN 0.0 AND 1.7976931348623157e308);
-- 1: its errors make a case errored, even if it is soft.
ALTER TABLE scorers ADD COLUMN required INTEGER NOT NULL DEFAULT 0 CHECK (required IN (0, 1));
-- How often it runs, as the suite says it; NULL: on every case.
ALTER TABLE scorers ADD COLUMN sampling_json TEXT;
-- The nodes whose cases it is for: a JSON array of globs; NULL: all.
ALTER TABLE scorers ADD COLUMN nodes_json TEXT;

-- Why the case is not to be judged; empty where no reason is given; NULL: it is to be judged.
ALTER TABLE cases ADD COLUMN skip_reason TEXT;
