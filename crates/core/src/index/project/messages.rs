//! The `messages` table: every envelope, numbered.
//!
//! Owns the order (docs/formats/index.md): by the moment, then the repository, then the number of the
//! line that tells of the publication. The moment of an envelope that the history knows is the
//! latest time of any line up to that one, so that the order within a repository is that of its
//! history, whatever the clock did. Numbers are places in that order, and so the same after a rebuild;
//! what comes in between moves those behind it.

use rusqlite::params;

use super::Projection;
use crate::error::Result;

/// What the history says of the envelopes that changed, or that it told of anew.
const SETTLE: &str = "
    UPDATE envelope SET
      n = (SELECT min(mark.n) FROM mark
           WHERE (mark.repo, mark.worker, mark.direction, mark.seq, mark.what)
               = (envelope.repo, envelope.worker, envelope.direction, envelope.seq, 'published')),
      acked = iif(flagged IS NULL, NULL, coalesce(
          (SELECT max(mark.at) FROM mark
           WHERE (mark.repo, mark.worker, mark.direction, mark.seq, mark.what)
               = (envelope.repo, envelope.worker, envelope.direction, envelope.seq, 'read')),
          flagged))
    WHERE changed;
    UPDATE envelope SET
      moment = coalesce(
          (SELECT mark.latest FROM mark
           WHERE (mark.repo, mark.worker, mark.direction, mark.seq, mark.what, mark.n)
               = (envelope.repo, envelope.worker, envelope.direction, envelope.seq, 'published',
                  envelope.n)),
          at)
    WHERE changed;";

/// In the order of `envelope_order`.
const ORDERED: &str = "
    SELECT id, message, changed FROM envelope
    ORDER BY moment, repo, coalesce(n, 9223372036854775807), worker, direction, seq, month";

const INSERT: &str = "
    INSERT OR REPLACE INTO
      messages(id, subject, from_id, to_id, body, thread_id, created_at, acked_at)
    SELECT message, subject, from_id, to_id,
      coalesce((SELECT text FROM passage
                WHERE kind = iif(direction = 'inbox', 'brief', 'report')
                  AND thing = envelope.id AND field = 'body'), ''),
      thread_id, datetime(at / 1000000000, 'unixepoch'),
      datetime(acked / 1000000000, 'unixepoch')
    FROM envelope";

impl Projection<'_> {
    pub(super) fn resolve_messages(&self) -> Result<()> {
        Ok(self.db.execute_batch(SETTLE)?)
    }

    pub(super) fn number_the_messages(&self) -> Result<()> {
        let mut moved: Vec<(i64, i64)> = Vec::new();
        let mut changed: Vec<i64> = Vec::new();
        let mut count = 0;
        {
            let mut query = self.db.prepare_cached(ORDERED)?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                count += 1;
                let id = row.get(0)?;
                if row.get::<_, Option<i64>>(1)? != Some(count) {
                    moved.push((id, count));
                } else if row.get(2)? {
                    changed.push(id);
                }
            }
        }
        for (id, message) in &moved {
            self.db
                .prepare_cached("UPDATE envelope SET message = ? WHERE id = ?")?
                .execute(params![message, id])?;
        }
        let removed = self
            .db
            .execute("DELETE FROM messages WHERE id > ?", [count])?;
        if removed > 0 {
            self.forget_numbers_above(count)?;
        }
        for id in moved.iter().map(|(id, _)| id).chain(&changed) {
            self.db
                .prepare_cached(&format!("{INSERT} WHERE id = ?"))?
                .execute([id])?;
        }
        self.db
            .execute("UPDATE envelope SET changed = 0 WHERE changed", [])?;
        Ok(())
    }

    /// SQLite remembers the highest number that there ever was, and a rebuilt index has never seen it.
    fn forget_numbers_above(&self, count: i64) -> Result<()> {
        // It has no row where there was none yet.
        let sql = match count {
            0 => "DELETE FROM sqlite_sequence WHERE name = 'messages' AND seq > ?1",
            _ => "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'messages'",
        };
        self.db.execute(sql, [count])?;
        Ok(())
    }
}
