//! The envelopes of every worker, live and archived, and the messages that sessions tell of.
//!
//! Owns their rows and texts. Live ones are looked at one by one; an archive's directory only when it
//! changed itself, since nothing is said there any more. Half an envelope is none; one that cannot
//! be understood is reported each time it is met.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use flagpost_disk::{
    dialects::{
        relay::{self as layout, Part},
        session::layout as session,
    },
    fsx::{self, Stat},
};
use flagpost_model::{
    RepoId, Seq,
    envelope::{Brief, Direction, Post, Report},
    message::Place,
    search::{Kind, Text, of_brief, of_message, of_report},
};
use jiff::Timestamp;
use rusqlite::params;

use super::{Projection, Source, nanoseconds, survey};
use crate::{
    error::Result,
    index::{
        Owner,
        shelf::{Shelf, Table, stamp},
    },
    relay::{Drawer, Fleet, messages},
    sessions::Sessions,
};

/// The files of one number that matter here.
#[derive(Default)]
struct Slot {
    body: Option<(PathBuf, Stat)>,
    sidecar: Option<(PathBuf, Stat)>,
    read: Option<Stat>,
}

/// In place of a month: it lies in no mail, and a session's lines tell of it.
const TOLD: &str = "told";

/// A row of the table.
struct Row<'r> {
    /// What tells it from others of its directory.
    name: &'r str,
    place: &'r Place,
    month: &'r str,
    /// The kind of its envelope.
    word: &'r str,
    ticket: Option<&'r str>,
    uuid: Option<&'r str>,
    at: Timestamp,
    /// When its recipient had it, as far as its file tells.
    flagged: Option<i64>,
    post: Post,
    texts: (Kind, Vec<Text<'r>>),
}

/// An envelope that was understood.
enum Envelope {
    Brief(Box<Brief>, String),
    Report(Box<Report>),
}

impl Envelope {
    fn texts(&self) -> (Kind, Vec<Text<'_>>) {
        match self {
            Self::Brief(brief, body) => (Kind::Brief, of_brief(brief, body)),
            Self::Report(report) => (Kind::Report, of_report(report)),
        }
    }
}

impl Projection<'_> {
    pub(super) fn mail(&mut self, repo: &RepoId) -> Result<()> {
        let fleet = Fleet::of(self.home, repo);
        for drawer in fleet.drawers()? {
            self.drawer(repo, &fleet, &drawer)?;
        }
        Ok(())
    }

    fn drawer(&mut self, repo: &RepoId, fleet: &Fleet<'_>, drawer: &Drawer) -> Result<()> {
        let Some(stat) = fsx::stat(self.home.fs(), &drawer.dir)? else {
            return Ok(());
        };
        let before = stamp(&[stat], self.looked_at);
        let mut shelf = self.shelf(Table::Envelope, &drawer.dir, repo.as_str())?;
        if drawer.month.is_some() && shelf.is_untouched(&before) {
            return Ok(());
        }
        shelf.load()?;
        let (slots, mut whole) = self.slots(fleet, drawer)?;
        for (seq, slot) in slots {
            whole &= self.slot(repo, drawer, &mut shelf, seq, &slot)?;
        }
        // What is reported, or not all here yet, must be met again.
        shelf.remember(if whole { &before } else { &[] })?;
        shelf.forget_the_rest()
    }

    /// What is there under each number, and whether all of it is here.
    fn slots(&self, fleet: &Fleet<'_>, drawer: &Drawer) -> Result<(BTreeMap<Seq, Slot>, bool)> {
        let direction = drawer.direction;
        let part = |name: &str| match layout::parse(direction, name) {
            Some((seq, part @ (Part::Body | Part::Report | Part::Sidecar | Part::Read))) => {
                Some((seq, part))
            }
            _ => None,
        };
        let files = survey(self.home, &drawer.dir, &|name| part(name).is_some())?;
        let mut slots: BTreeMap<Seq, Slot> = BTreeMap::new();
        for (name, stat) in files {
            let Some((seq, part)) = name.to_str().and_then(part) else {
                continue;
            };
            let slot = slots.entry(seq).or_default();
            let file = Some((drawer.dir.join(&name), stat));
            match part {
                Part::Sidecar => slot.sidecar = file,
                Part::Read => slot.read = Some(stat),
                _ => slot.body = file,
            }
        }
        slots.retain(|_, slot| slot.body.is_some());
        let whole = match drawer.month {
            Some(_) => self.complete(fleet, drawer, &mut slots)?,
            None => true,
        };
        Ok((slots, whole))
    }

    /// An archival that was cut short has moved the body and left the rest. Whether none was.
    fn complete(
        &self,
        fleet: &Fleet<'_>,
        drawer: &Drawer,
        slots: &mut BTreeMap<Seq, Slot>,
    ) -> Result<bool> {
        let mut whole = true;
        let live = fleet.live(&drawer.worker, drawer.direction);
        for (seq, slot) in slots {
            if drawer.direction == Direction::Inbox && slot.sidecar.is_none() {
                let path = live.join(layout::sidecar(*seq));
                slot.sidecar = fsx::stat(self.home.fs(), &path)?.map(|stat| (path, stat));
                whole = false;
            }
            if slot.read.is_none() {
                slot.read = fsx::stat(self.home.fs(), &live.join(layout::read_flag(*seq)))?;
                whole = false;
            }
        }
        Ok(whole)
    }

    /// Whether it could be understood.
    fn slot(
        &mut self,
        repo: &RepoId,
        drawer: &Drawer,
        shelf: &mut Shelf<'_>,
        seq: Seq,
        slot: &Slot,
    ) -> Result<bool> {
        let name = seq.to_string();
        let parts = [slot.body.as_ref(), slot.sidecar.as_ref()];
        let stats: Vec<Stat> = parts.iter().flatten().map(|(_, stat)| *stat).collect();
        let stamp = stamp(
            &stats.into_iter().chain(slot.read).collect::<Vec<_>>(),
            self.looked_at,
        );
        if shelf.has(&name, &stamp)? {
            return Ok(true);
        }
        match self.understand(drawer, seq, slot) {
            Ok(Some(envelope)) => {
                let flagged = slot.read.map(|stat| stat.modified);
                self.put(repo, drawer, shelf, &stamp, flagged, &envelope)?;
                Ok(true)
            }
            Ok(None) => {
                shelf.forget(&name)?;
                Ok(true)
            }
            Err((file, reason)) => {
                shelf.forget(&name)?;
                let file = file.map(|file| {
                    let Drawer {
                        worker, direction, ..
                    } = drawer;
                    format!("{worker}/{direction}/{}", file.to_string_lossy())
                });
                self.fault(Owner::Repository(repo.clone()), file, reason);
                Ok(false)
            }
        }
    }

    /// `Ok(None)` where it is half an envelope, or gone since.
    fn understand(
        &self,
        drawer: &Drawer,
        seq: Seq,
        slot: &Slot,
    ) -> std::result::Result<Option<Envelope>, (Option<OsString>, String)> {
        let read = |path: &PathBuf| {
            fsx::read(self.home.fs(), path).map_err(|error| {
                let file = path.file_name().map(OsString::from);
                (file, error.to_string())
            })
        };
        let Some((path, _)) = &slot.body else {
            return Ok(None);
        };
        let broken = |path: &PathBuf, reason| (path.file_name().map(OsString::from), reason);
        let Some(bytes) = read(path)? else {
            return Ok(None);
        };
        if drawer.direction == Direction::Outbox {
            let report = layout::read_report(&drawer.worker, seq, &bytes)
                .map_err(|reason| broken(path, reason))?;
            return Ok(Some(Envelope::Report(Box::new(report.content))));
        }
        let Some((sidecar, _)) = &slot.sidecar else {
            return Ok(None);
        };
        let Some(meta) = read(sidecar)? else {
            return Ok(None);
        };
        let brief = layout::read_brief(&drawer.worker, seq, &meta)
            .map_err(|reason| broken(sidecar, reason))?;
        let body = String::from_utf8(bytes).map_err(|error| broken(path, error.to_string()))?;
        Ok(Some(Envelope::Brief(Box::new(brief.content), body)))
    }

    fn put(
        &self,
        repo: &RepoId,
        drawer: &Drawer,
        shelf: &Shelf<'_>,
        stamp: &[u8],
        flagged: Option<i64>,
        envelope: &Envelope,
    ) -> Result<()> {
        let (kind, texts) = envelope.texts();
        let (post, word, ticket, uuid, at, seq) = match envelope {
            Envelope::Brief(brief, _) => (
                Post::from(&**brief),
                brief.kind.as_str(),
                brief.target_ticket.as_deref(),
                brief.extras.id.as_deref(),
                brief.submitted_at,
                brief.seq,
            ),
            Envelope::Report(report) => (
                Post::from(&**report),
                report.kind.as_str(),
                report.ticket_id.as_deref(),
                report.extras.id.as_deref(),
                report.produced_at,
                report.seq,
            ),
        };
        let row = Row {
            name: &seq.to_string(),
            place: &Place {
                worker: drawer.worker.clone(),
                direction: drawer.direction,
                seq,
            },
            month: drawer.month.as_deref().unwrap_or_default(),
            word,
            ticket,
            uuid,
            at,
            flagged,
            post,
            texts: (kind, texts),
        };
        self.row(repo, shelf, stamp, row)
    }

    /// What a session tells of its processes' messages: one file, read anew when it changed.
    pub(super) fn told(
        &mut self,
        sessions: &Sessions<'_>,
        session: &str,
        dir: &Path,
    ) -> Result<()> {
        let path = dir.join(session::PROGRESS_EVENTS);
        let stat = fsx::stat(self.home.fs(), &path)?;
        let stamp = stamp(stat.as_slice(), self.looked_at);
        let repo = sessions.repository();
        let mut shelf = self.shelf(Table::Envelope, dir, repo.as_str())?;
        if shelf.is_untouched(&stamp) {
            return Ok(());
        }
        shelf.load()?;
        let told = match stat {
            Some(_) => sessions.assigned_in(session == session::LIVE, dir.to_owned())?,
            None => None,
        };
        for seen in told.iter().flat_map(|it| messages::seen(self.home, it)) {
            let message = seen.message;
            let name = message.place.to_string();
            shelf.has(&name, &[])?;
            let (title, summary) = (message.title(), message.summary());
            let ticket = message.task();
            let kind = match message.place.direction {
                Direction::Inbox => Kind::Brief,
                Direction::Outbox => Kind::Report,
            };
            let row = Row {
                name: &name,
                place: &message.place,
                month: TOLD,
                word: message.kind,
                ticket: ticket.as_deref(),
                uuid: message.id.as_deref(),
                at: message.at,
                flagged: Some(nanoseconds(message.at)),
                post: Post {
                    subject: title.to_owned(),
                    from: message.from.clone(),
                    to: message.to.clone(),
                    thread: message.thread.clone().unwrap_or_default(),
                },
                texts: (kind, of_message(title, &summary, &message.body)),
            };
            self.row(repo, &shelf, &stamp, row)?;
        }
        shelf.remember(&stamp)?;
        shelf.forget_the_rest()
    }

    fn row(&self, repo: &RepoId, shelf: &Shelf<'_>, stamp: &[u8], it: Row<'_>) -> Result<()> {
        let Place {
            worker,
            direction,
            seq,
        } = it.place;
        let at = nanoseconds(it.at);
        let number = i64::try_from(seq.get()).unwrap_or(i64::MAX);
        let row = self
            .db
            .prepare_cached(
                "INSERT INTO envelope(place, name, stamp, repo, worker, direction, seq, month, \
                 kind, ticket, uuid, at, flagged, subject, from_id, to_id, thread_id, moment, \
                 changed) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, \
                 ?17, ?12, 1) \
                 ON CONFLICT(place, name) DO UPDATE SET stamp = excluded.stamp, \
                 kind = excluded.kind, ticket = excluded.ticket, uuid = excluded.uuid, \
                 at = excluded.at, flagged = excluded.flagged, subject = excluded.subject, \
                 from_id = excluded.from_id, to_id = excluded.to_id, \
                 thread_id = excluded.thread_id, changed = 1 \
                 RETURNING id",
            )?
            .query_row(
                params![
                    shelf.place(),
                    it.name,
                    stamp,
                    repo.as_str(),
                    worker.as_str(),
                    direction.as_str(),
                    number,
                    it.month,
                    it.word,
                    it.ticket,
                    it.uuid,
                    at,
                    it.flagged,
                    it.post.subject,
                    it.post.from,
                    it.post.to,
                    it.post.thread
                ],
                |row| row.get(0),
            )?;
        let (kind, texts) = it.texts;
        let place = format!("{worker}/{direction}/{seq}");
        let source = Source {
            kind,
            thing: row,
            scope: repo.as_str(),
            name: &place,
            at,
        };
        self.texts(&source, &texts)
    }
}
