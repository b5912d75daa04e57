-- Schema 11: scorers of one value of a case.

-- Where in a case the value is that the scorer is given as the output, as a JSON Pointer; NULL: the case's output.
ALTER TABLE scorers ADD COLUMN output_from TEXT;
