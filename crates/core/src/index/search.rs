//! Where a text is, in everything.
//!
//! Owns narrowing by words what is looked through text by text. The rule that finds is the model's,
//! and it is asked about every text that is answered with: the words only spare it the others.
//! Tasks come first, then mail and sessions and history, the newest before the older.

use std::{cmp::Reverse, fmt};

use flagpost_model::{
    ListId, RepoId, Seq, TaskId, WorkerId,
    envelope::Direction,
    query,
    search::{self, SearchField, SearchKind, SearchWord, Spot},
    task::StateName,
};
use jiff::Timestamp;
use rusqlite::{params, types::ValueRef};

use super::{Index, IndexFault, Owner, project::nanoseconds};
use crate::error::{Error, Result};

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchScope {
    /// Everywhere.
    Everything,
    /// In a list, and in what is a repository's.
    Of {
        /// The list.
        list: Option<ListId>,
        /// The repository.
        repository: Option<RepoId>,
    },
}

/// What to look for.
#[derive(Debug, Clone)]
pub struct SearchRequest<'w> {
    /// The text, in whatever case.
    pub text: &'w str,
    /// Where.
    pub scope: SearchScope,
    /// In what; nothing named is everything.
    pub kinds: &'w [SearchKind],
    /// At most so many places; 0 for all.
    pub limit: usize,
}

impl SearchRequest<'_> {
    fn is_about(&self, kind: SearchKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    fn is_in(&self, text: ValueRef<'_>) -> bool {
        let text = text.as_str().unwrap_or_default();
        query::find(text, self.text).is_some()
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchResult {
    /// The places.
    pub hits: Vec<Hit>,
    /// How many there are, named here or not.
    pub total: usize,
    /// What could not be looked through.
    pub faults: Vec<IndexFault>,
}

/// A place where the text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// In what.
    pub thing: Thing,
    /// In which of its texts.
    pub place: SearchField,
    /// Which of several, counted from 1.
    pub n: u32,
    /// Where in it.
    pub spot: Spot,
    /// The line that it begins in.
    pub line: String,
}

/// What the text was found in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thing {
    /// A task.
    Task {
        /// Of this list.
        list: ListId,
        /// Its id.
        id: TaskId,
        /// Its subject.
        subject: String,
        /// Its state.
        state: StateName,
    },
    /// A brief or a report.
    Message {
        /// Of this repository.
        repository: RepoId,
        /// Whose mail.
        worker: WorkerId,
        /// Which direction.
        direction: Direction,
        /// Its number.
        seq: Seq,
        /// The month of the archive; none where it is live.
        month: Option<String>,
        /// Its subject, as the `messages` table has it.
        subject: String,
    },
    /// A file of a session.
    Session {
        /// Of this repository.
        repository: RepoId,
        /// The session and the file in it.
        file: String,
    },
    /// A line of the history.
    History {
        /// Of this repository.
        repository: RepoId,
        /// Its number.
        n: u64,
    },
}

/// As a person calls it in its list or repository.
impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task { id, .. } => write!(f, "{id}"),
            Self::Message {
                worker,
                direction,
                seq,
                month,
                ..
            } => {
                write!(f, "{worker}/{direction}/{seq}")?;
                match month {
                    Some(month) => write!(f, " ({month})"),
                    None => Ok(()),
                }
            }
            Self::Session { file, .. } => write!(f, "{file}"),
            Self::History { n, .. } => write!(f, "history {n}"),
        }
    }
}

/// A text with the wanted one in it, before anybody asks what it is of.
struct Match {
    /// Its row, of the history or of the passages.
    row: i64,
    kind: SearchKind,
    scope: String,
    name: String,
    at: i64,
}

impl Match {
    /// What comes first: the kind, then the newest, then the highest number.
    fn rank(&self) -> impl Ord + use<> {
        let (kind, number) = match self.kind {
            SearchKind::Task => (0, None),
            SearchKind::Brief | SearchKind::Report => (1, self.number()),
            SearchKind::Session => (2, None),
            SearchKind::History => (3, self.number()),
        };
        let task: Option<TaskId> = self.name.parse().ok().filter(|_| kind == 0);
        let scope = self.scope.clone();
        (
            kind,
            Reverse(self.at),
            scope,
            task,
            Reverse(number),
            self.name.clone(),
            self.row,
        )
    }

    fn number(&self) -> Option<u64> {
        self.name.rsplit('/').next()?.parse().ok()
    }
}

impl Index {
    /// Every place where the text is.
    pub fn search(&self, wanted: &SearchRequest<'_>) -> Result<SearchResult> {
        if wanted.text.trim().is_empty() {
            return Err(Error::Invalid {
                what: "text".to_owned(),
                reason: "say what to look for".to_owned(),
            });
        }
        let mut matches = self.matches(wanted)?;
        matches.sort_by_cached_key(Match::rank);
        let total = matches.len();
        if wanted.limit > 0 {
            matches.truncate(wanted.limit);
        }
        let hits = matches.iter().map(|it| self.hit(it, wanted.text));
        Ok(SearchResult {
            hits: hits.filter_map(Result::transpose).collect::<Result<_>>()?,
            total,
            faults: self.faults_in(&wanted.scope),
        })
    }

    fn matches(&self, wanted: &SearchRequest<'_>) -> Result<Vec<Match>> {
        let words = search::words(wanted.text);
        let narrowed = match words.is_empty() {
            true => "",
            false => "AND id IN (SELECT rowid FROM words WHERE words MATCH ?4)",
        };
        let (everything, list, repository) = match &wanted.scope {
            SearchScope::Everything => (true, "", ""),
            SearchScope::Of { list, repository } => (
                false,
                list.as_ref().map_or("", |it| it.as_str()),
                repository.as_ref().map_or("", |it| it.as_str()),
            ),
        };
        let sql = format!(
            "SELECT id, kind, scope, name, at, text FROM passage \
             WHERE (?1 OR scope = iif(kind = 'task', ?2, ?3)) {narrowed}"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        let mut rows = match words.is_empty() {
            true => query.query(params![everything, list, repository])?,
            false => query.query(params![everything, list, repository, fts(&words)])?,
        };
        let mut matches = Vec::new();
        while let Some(row) = rows.next()? {
            let Some(kind) = parsed::<SearchKind>(row.get_ref(1)?.as_str()) else {
                continue;
            };
            if wanted.is_about(kind) && wanted.is_in(row.get_ref(5)?) {
                matches.push(Match {
                    row: row.get(0)?,
                    kind,
                    scope: row.get(2)?,
                    name: row.get(3)?,
                    at: row.get(4)?,
                });
            }
        }
        if wanted.is_about(SearchKind::History) {
            self.lines(wanted, everything, repository, &mut matches)?;
        }
        Ok(matches)
    }

    /// The lines of the history, of which no words are kept: most are never looked for.
    fn lines(
        &self,
        wanted: &SearchRequest<'_>,
        everything: bool,
        repository: &str,
        matches: &mut Vec<Match>,
    ) -> Result<()> {
        let sql = "SELECT id, repo, n, at, line FROM history WHERE ?1 OR repo = ?2";
        let mut query = self.db.prepare_cached(sql)?;
        let mut rows = query.query(params![everything, repository])?;
        while let Some(row) = rows.next()? {
            if wanted.is_in(row.get_ref(4)?) {
                let at = parsed::<Timestamp>(row.get_ref(3)?.as_str());
                matches.push(Match {
                    row: row.get(0)?,
                    kind: SearchKind::History,
                    scope: row.get(1)?,
                    name: row.get::<_, i64>(2)?.to_string(),
                    at: at.map_or(0, nanoseconds),
                });
            }
        }
        Ok(())
    }

    /// The whole of a match.
    fn hit(&self, it: &Match, wanted: &str) -> Result<Option<Hit>> {
        let sql = match it.kind {
            SearchKind::History => "SELECT id, 'text', 1, line FROM history WHERE id = ?",
            _ => "SELECT thing, field, n, text FROM passage WHERE id = ?",
        };
        let mut query = self.db.prepare_cached(sql)?;
        let (thing, field, n, text): (i64, String, u32, String) = query
            .query_row([it.row], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?;
        let spot = search::spot(&text, wanted);
        let parts = (self.thing(it, thing)?, parsed(Ok(&field)), spot);
        let (Some(thing), Some(place), Some(spot)) = parts else {
            return Ok(None);
        };
        Ok(Some(Hit {
            thing,
            place,
            n,
            line: line_at(&text, spot.at),
            spot,
        }))
    }

    fn thing(&self, it: &Match, thing: i64) -> Result<Option<Thing>> {
        Ok(match it.kind {
            SearchKind::Task => {
                let mut query = self
                    .db
                    .prepare_cached("SELECT subject, state FROM task WHERE id = ?")?;
                let (subject, state): (String, String) =
                    query.query_row([thing], |row| Ok((row.get(0)?, row.get(1)?)))?;
                task(it, subject, &state)
            }
            SearchKind::Brief | SearchKind::Report => {
                let mut query = self
                    .db
                    .prepare_cached("SELECT month, subject FROM envelope WHERE id = ?")?;
                let (month, subject): (String, String) =
                    query.query_row([thing], |row| Ok((row.get(0)?, row.get(1)?)))?;
                message(it, month, subject)
            }
            SearchKind::Session => it.scope.parse().ok().map(|repository| Thing::Session {
                repository,
                file: it.name.clone(),
            }),
            SearchKind::History => {
                let parts = it.scope.parse().ok().zip(it.name.parse().ok());
                parts.map(|(repository, n)| Thing::History { repository, n })
            }
        })
    }

    fn faults_in(&self, scope: &SearchScope) -> Vec<IndexFault> {
        let is_there = |fault: &&IndexFault| match (scope, &fault.owner) {
            (SearchScope::Everything, _) => true,
            (SearchScope::Of { list, .. }, Owner::List(of)) => list.as_ref() == Some(of),
            (SearchScope::Of { repository, .. }, Owner::Repository(of)) => {
                repository.as_ref() == Some(of)
            }
            (SearchScope::Of { .. }, Owner::Home) => false,
        };
        self.faults.iter().filter(is_there).cloned().collect()
    }
}

fn task(it: &Match, subject: String, state: &str) -> Option<Thing> {
    Some(Thing::Task {
        list: it.scope.parse().ok()?,
        id: it.name.parse().ok()?,
        subject,
        state: state.parse().ok()?,
    })
}

fn message(it: &Match, month: String, subject: String) -> Option<Thing> {
    let mut parts = it.name.split('/');
    Some(Thing::Message {
        repository: it.scope.parse().ok()?,
        worker: parts.next()?.parse().ok()?,
        direction: parts.next()?.parse().ok()?,
        seq: parts.next()?.parse().ok()?,
        month: Some(month).filter(|month| !month.is_empty()),
        subject,
    })
}

/// Every word as a quoted string: nothing in it is an operator.
fn fts(words: &[SearchWord<'_>]) -> String {
    let quoted = words.iter().map(|word| match word {
        SearchWord::Whole(text) => format!("\"{text}\""),
        SearchWord::Begun(text) => format!("\"{text}\" *"),
    });
    quoted.collect::<Vec<_>>().join(" AND ")
}

fn parsed<T: std::str::FromStr>(
    text: std::result::Result<&str, rusqlite::types::FromSqlError>,
) -> Option<T> {
    text.ok()?.parse().ok()
}

/// The line around a place that is counted in characters.
fn line_at(text: &str, at: usize) -> String {
    let byte = text
        .char_indices()
        .nth(at)
        .map_or(text.len(), |(byte, _)| byte);
    let (before, after) = text.split_at(byte);
    let begin = before.rfind('\n').map_or(0, |at| at + 1);
    let end = after.find('\n').map_or(text.len(), |at| byte + at);
    text.get(begin..end).unwrap_or_default().trim().to_owned()
}
