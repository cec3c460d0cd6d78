-- What finds the rows of tables.sql again. Made once there are rows: sorting all of them at the end is
-- cheaper than finding the place of each.

CREATE INDEX history_number ON history(repo, n);
CREATE INDEX envelope_order ON envelope(moment, repo, coalesce(n, 9223372036854775807), worker, direction, seq, month);
CREATE INDEX envelope_changed ON envelope(id) WHERE changed;
CREATE INDEX envelope_address ON envelope(repo, worker, direction, seq);
CREATE INDEX passage_thing ON passage(kind, thing);
CREATE INDEX idx_messages_unacked ON messages(to_id, acked_at);
CREATE INDEX idx_messages_thread ON messages(thread_id);

-- What is counted in bytes here is memory until it is written: few large pieces need no merging.
INSERT INTO words(words, rank) VALUES ('hashsize', 67108864);
INSERT INTO words(words) VALUES ('rebuild');
INSERT INTO words(words, rank) VALUES ('hashsize', 1048576);
CREATE TRIGGER passage_added AFTER INSERT ON passage BEGIN
  INSERT INTO words(rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER passage_removed AFTER DELETE ON passage BEGIN
  INSERT INTO words(words, rowid, text) VALUES ('delete', old.id, old.text);
END;
