-- Schema 3: the folder of files that a case names, for scorers that look at them.

ALTER TABLE cases ADD COLUMN workspace TEXT; -- below the folder that the user named; the files are not stored
