//! The envelopes of every worker, live and archived.
//!
//! Owns their rows and texts. Live ones are looked at one by one; an archive's directory only when it
//! changed itself, since nothing is said there any more. Half an envelope is none; one that cannot
//! be understood is reported each time it is met.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

use flagpost_disk::{
    dialects::relay::{self as layout, EnvelopePart},
    fsx::{self, Stat},
};
use flagpost_model::{
    RepoId, Seq,
    envelope::{Brief, Direction, Post, Report},
    search::{SearchKind, SearchText, of_brief, of_report},
};
use rusqlite::params;

use super::{Projection, TextOwner, nanoseconds, scan_dir};
use crate::{
    error::Result,
    index::{
        Owner,
        dir_cache::{DirCache, FileTable, stamp},
    },
    relay::{Fleet, MailDir},
};

/// The files of one number that matter here.
#[derive(Default)]
struct IndexedFiles {
    body: Option<(PathBuf, Stat)>,
    sidecar: Option<(PathBuf, Stat)>,
    read: Option<Stat>,
}

/// An envelope that was understood.
enum Envelope {
    Brief(Box<Brief>, String),
    Report(Box<Report>),
}

impl Envelope {
    fn texts(&self) -> (SearchKind, Vec<SearchText<'_>>) {
        match self {
            Self::Brief(brief, body) => (SearchKind::Brief, of_brief(brief, body)),
            Self::Report(report) => (SearchKind::Report, of_report(report)),
        }
    }
}

impl Projection<'_> {
    pub(super) fn mail(&mut self, repo: &RepoId) -> Result<()> {
        let fleet = Fleet::of(self.home, repo);
        for drawer in fleet.mail_dirs()? {
            self.mail_dir(repo, &fleet, &drawer)?;
        }
        Ok(())
    }

    fn mail_dir(&mut self, repo: &RepoId, fleet: &Fleet<'_>, drawer: &MailDir) -> Result<()> {
        let Some(stat) = fsx::stat(self.home.fs(), &drawer.dir)? else {
            return Ok(());
        };
        let before = stamp(&[stat], self.looked_at);
        let mut shelf = self.dir_cache(FileTable::Envelope, &drawer.dir, repo.as_str())?;
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
    fn slots(
        &self,
        fleet: &Fleet<'_>,
        drawer: &MailDir,
    ) -> Result<(BTreeMap<Seq, IndexedFiles>, bool)> {
        let direction = drawer.direction;
        let part = |name: &str| match layout::parse(direction, name) {
            Some((
                seq,
                part @ (EnvelopePart::Body
                | EnvelopePart::Report
                | EnvelopePart::Sidecar
                | EnvelopePart::Read),
            )) => Some((seq, part)),
            _ => None,
        };
        let files = scan_dir(self.home, &drawer.dir, &|name| part(name).is_some())?;
        let mut slots: BTreeMap<Seq, IndexedFiles> = BTreeMap::new();
        for (name, stat) in files {
            let Some((seq, part)) = name.to_str().and_then(part) else {
                continue;
            };
            let slot = slots.entry(seq).or_default();
            let file = Some((drawer.dir.join(&name), stat));
            match part {
                EnvelopePart::Sidecar => slot.sidecar = file,
                EnvelopePart::Read => slot.read = Some(stat),
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
        drawer: &MailDir,
        slots: &mut BTreeMap<Seq, IndexedFiles>,
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
        drawer: &MailDir,
        shelf: &mut DirCache<'_>,
        seq: Seq,
        slot: &IndexedFiles,
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
                    let MailDir {
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
        drawer: &MailDir,
        seq: Seq,
        slot: &IndexedFiles,
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
        drawer: &MailDir,
        shelf: &DirCache<'_>,
        stamp: &[u8],
        flagged: Option<i64>,
        envelope: &Envelope,
    ) -> Result<()> {
        let (post, kind, ticket, uuid, at, seq) = match envelope {
            Envelope::Brief(brief, _) => (
                Post::from(&**brief),
                brief.kind.as_str(),
                &brief.target_ticket,
                &brief.extras.id,
                brief.submitted_at,
                brief.seq,
            ),
            Envelope::Report(report) => (
                Post::from(&**report),
                report.kind.as_str(),
                &report.ticket_id,
                &report.extras.id,
                report.produced_at,
                report.seq,
            ),
        };
        let name = seq.to_string();
        let at = nanoseconds(at);
        let number = i64::try_from(seq.get()).unwrap_or(i64::MAX);
        let month = drawer.month.as_deref().unwrap_or_default();
        let (worker, direction) = (&drawer.worker, drawer.direction);
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
                    name,
                    stamp,
                    repo.as_str(),
                    worker.as_str(),
                    direction.as_str(),
                    number,
                    month,
                    kind,
                    ticket,
                    uuid,
                    at,
                    flagged,
                    post.subject,
                    post.from,
                    post.to,
                    post.thread
                ],
                |row| row.get(0),
            )?;
        let (kind, texts) = envelope.texts();
        let place = format!("{worker}/{direction}/{seq}");
        let source = TextOwner {
            kind,
            thing: row,
            scope: repo.as_str(),
            name: &place,
            at,
        };
        self.texts(&source, &texts)
    }
}
