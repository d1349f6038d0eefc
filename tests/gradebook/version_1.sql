-- A gradebook as the first version wrote it: one run, two submissions, a report, an earlier one, and a decision.
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    kata TEXT NOT NULL,
    settings BLOB NOT NULL,
    seed INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    UNIQUE (kata, settings, seed)
);
CREATE TABLE submission (
    id INTEGER PRIMARY KEY,
    kata TEXT NOT NULL,
    student TEXT NOT NULL,
    students BLOB NOT NULL,
    file TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    source BLOB,
    problem TEXT NOT NULL,
    submitted_at TEXT,
    late INTEGER,
    present INTEGER NOT NULL,
    UNIQUE (kata, student, file)
);
CREATE TABLE report (
    submission INTEGER PRIMARY KEY REFERENCES submission (id),
    run INTEGER NOT NULL REFERENCES run (id),
    report BLOB NOT NULL,
    verdict TEXT NOT NULL,
    score REAL NOT NULL,
    graded_at TEXT NOT NULL
);
CREATE TABLE earlier_report (
    submission INTEGER NOT NULL REFERENCES submission (id),
    run INTEGER NOT NULL,
    report BLOB NOT NULL,
    graded_at TEXT NOT NULL
);
CREATE TABLE override (
    id INTEGER PRIMARY KEY,
    kata TEXT NOT NULL,
    student TEXT NOT NULL,
    score REAL,
    reason TEXT NOT NULL,
    author TEXT NOT NULL,
    at TEXT NOT NULL
);
CREATE TABLE left_out (
    kata TEXT NOT NULL,
    path TEXT NOT NULL,
    student TEXT NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX report_verdict ON report (verdict);

INSERT INTO run VALUES (1, 'doubled', CAST('{"engine":"interpreter","course":"digest","target":null,"recompile":false,"sandbox":true}' AS BLOB), 7, '2029-12-24T10:00:00+00:00');
INSERT INTO run VALUES (2, 'doubled', CAST('{"engine":"gpu","course":"digest","target":null,"recompile":false,"sandbox":true}' AS BLOB), 8, '2029-12-24T11:00:00+00:00');
INSERT INTO submission VALUES (1, 'doubled', 'ann', CAST('[{"id":"ann","name":"Ann","email":"","numbers":{}}]' AS BLOB), 'ann/doubled.py', 1, '8ff436def1451285599a1b1ad70800493b8dcafde2912e1a38345633054e4c26', CAST('x = 1' AS BLOB), '', '2029-12-01T12:00:00+00:00', 1, 1);
INSERT INTO submission VALUES (2, 'doubled', 'ben', CAST('[{"id":"ben"}]' AS BLOB), 'ben/doubled.py', 1, 'ff', NULL, 'the archive is damaged', NULL, NULL, 1);
INSERT INTO report VALUES (1, 2, CAST('{"kata":"doubled","submission":{"path":"doubled.py","sha256":"00","student":"ann"},"engine":{"name":"gpu","device":"a card","target":"sm_90"},"verdict":"fail","score":3.0,"max_score":5.0,"medal":"none","seed":8}' AS BLOB), 'fail', 3.0, '2029-12-24T12:00:00+00:00');
INSERT INTO earlier_report VALUES (1, 1, CAST('{"kata":"doubled"}' AS BLOB), '2029-12-24T10:30:00+00:00');
INSERT INTO override VALUES (1, 'doubled', 'ann', 4.5, 'after appeal', 'T. A.', '2029-12-25T00:00:00+00:00');
INSERT INTO left_out VALUES ('doubled', 'notes.txt', '', 'is no Python file');
PRAGMA application_id = 1801548897;
PRAGMA user_version = 1;
