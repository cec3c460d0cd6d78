-- What the index holds. It is a projection: every row can be read again from the files.
-- What finds it again is in indexes.sql, and made when a new one is full.
-- docs/formats/index.md tells what each column is.

-- How far each repository's history was read, and the bytes that end there.
CREATE TABLE cursor(
  repo TEXT PRIMARY KEY,
  offset INTEGER NOT NULL,
  tail BLOB NOT NULL,
  latest INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE history(
  id INTEGER PRIMARY KEY,
  repo TEXT NOT NULL,
  n INTEGER NOT NULL,
  at TEXT NOT NULL,
  kind TEXT NOT NULL,
  actor TEXT,
  worker TEXT,
  seq INTEGER,
  list TEXT,
  task TEXT,
  line TEXT NOT NULL
);

-- The lines that tell of an envelope's publication, or that its recipient has it.
CREATE TABLE mark(
  repo TEXT NOT NULL,
  worker TEXT NOT NULL,
  direction TEXT NOT NULL,
  seq INTEGER NOT NULL,
  what TEXT NOT NULL,
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  latest INTEGER NOT NULL,
  PRIMARY KEY(repo, worker, direction, seq, what, n)
) WITHOUT ROWID;
CREATE INDEX mark_number ON mark(repo, n);

-- Directories that were looked at: those of tasks, of mail, of sessions.
CREATE TABLE place(
  id INTEGER PRIMARY KEY,
  path BLOB NOT NULL UNIQUE,
  scope TEXT NOT NULL,
  stamp BLOB NOT NULL
);

CREATE TABLE task(
  id INTEGER PRIMARY KEY,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  stamp BLOB NOT NULL,
  list TEXT NOT NULL,
  task TEXT NOT NULL,
  subject TEXT NOT NULL,
  state TEXT NOT NULL,
  owner TEXT,
  UNIQUE(place, name)
);

-- For people's questions: what the files call it.
CREATE VIEW tasks AS SELECT list, task AS id, subject, state, owner FROM task;

CREATE TABLE envelope(
  id INTEGER PRIMARY KEY,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  stamp BLOB NOT NULL,
  repo TEXT NOT NULL,
  worker TEXT NOT NULL,
  direction TEXT NOT NULL,
  seq INTEGER NOT NULL,
  month TEXT NOT NULL,
  kind TEXT NOT NULL,
  ticket TEXT,
  uuid TEXT,
  at INTEGER NOT NULL,
  flagged INTEGER,
  subject TEXT NOT NULL,
  from_id TEXT NOT NULL,
  to_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  n INTEGER,
  moment INTEGER NOT NULL,
  acked INTEGER,
  message INTEGER,
  changed INTEGER NOT NULL,
  UNIQUE(place, name)
);

CREATE TABLE log(
  id INTEGER PRIMARY KEY,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  stamp BLOB NOT NULL,
  repo TEXT NOT NULL,
  session TEXT NOT NULL,
  UNIQUE(place, name)
);

-- Every text that can be found. `kind` names the table that `thing` is a row of.
CREATE TABLE passage(
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  thing INTEGER NOT NULL,
  scope TEXT NOT NULL,
  name TEXT NOT NULL,
  at INTEGER NOT NULL,
  field TEXT NOT NULL,
  n INTEGER NOT NULL,
  text TEXT NOT NULL
);

CREATE VIRTUAL TABLE words USING fts5(
  text, content = 'passage', content_rowid = 'id', detail = 'none',
  tokenize = 'unicode61 remove_diacritics 0'
);

CREATE TABLE messages(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  subject TEXT NOT NULL,
  from_id TEXT NOT NULL,
  to_id TEXT NOT NULL,
  body TEXT,
  thread_id TEXT,
  created_at DATETIME DEFAULT CURRENT_TIMESTAMP,
  acked_at DATETIME
);
