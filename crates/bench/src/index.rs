//! The index of many envelopes: built from nothing, and searched.
//!
//! Owns the mail that it is built of: twenty-five workers, briefs and reports in turns, archived, each
//! with its line in the history, as a year of a fleet leaves them.

use std::{fmt::Write as _, path::PathBuf};

use anyhow::{Context as _, Result, bail};
use flagpost_core::{
    Home, Repository,
    relay::{Fleet, workers},
};
use flagpost_disk::{
    dialects::relay as layout,
    fsx::{self, Fs, RealFs},
};
use flagpost_model::{
    Seq, WorkerId,
    envelope::{Brief, BriefKind, Extras, Key, Report, ReportKind, VERSION},
};
use jiff::Timestamp;

use crate::{Bench, row::BenchRow, scratch};

const WORKERS: u64 = 25;

/// A fleet's mail, in a home of its own.
struct Mail<'b> {
    repository: scratch::Repository<'b>,
    home: PathBuf,
    files: Vec<PathBuf>,
}

/// index-rebuild and search.
pub fn measure(bench: &Bench<'_>) -> Result<Vec<BenchRow>> {
    let count = bench.effort.envelopes;
    let verbs: [(&str, &str, &[&str]); 2] = [
        (
            "index-rebuild",
            "flagpost index rebuild",
            &["index", "rebuild"],
        ),
        (
            "search",
            "flagpost search, one word",
            &["search", "kestrel"],
        ),
    ];
    let wanted = |verb: &str| bench.wants(&format!("{verb}-{count}"));
    if !verbs.iter().any(|(verb, ..)| wanted(verb)) {
        return Ok(Vec::new());
    }
    let mail = Mail::write(bench, count)?;
    mail.run(&["index", "status"])?;
    let mut rows = Vec::new();
    for (verb, what, args) in verbs.into_iter().filter(|(verb, ..)| wanted(verb)) {
        let (floor, ours) =
            bench
                .scratch
                .in_turns(bench.effort.imports, || mail.read(), || mail.run(args))?;
        rows.push(BenchRow {
            name: format!("{verb}-{count}"),
            what: format!("{what}, cold, {count} envelopes"),
            floor_is: "all their files, read once",
            floor,
            ours,
            ..BenchRow::default()
        });
    }
    Ok(rows)
}

impl<'b> Mail<'b> {
    fn write(bench: &'b Bench<'b>, count: u64) -> Result<Self> {
        let home_dir = bench.scratch.make_dir("index-home")?;
        let here = bench.scratch.repository("index")?;
        let top = bench.scratch.dir().join("index");
        let home = Home::at(home_dir.clone());
        let operator = WorkerId::operator();
        let repository = Repository::register(&home, &top, &operator)?;
        let fleet = Fleet::of(&home, &repository.id);
        let mut mail = Self {
            repository: here,
            home: home_dir,
            files: Vec::new(),
        };
        let (mut history, first) = (String::new(), WORKERS + 2);
        for number in 1..=WORKERS {
            let worker: WorkerId = format!("W{number}").parse()?;
            workers::register(&fleet, &operator, &worker, workers::Traits::default())?;
            for direction in ["inbox", "outbox"] {
                let dir = format!("{worker}/archive/2026-05/{direction}");
                fsx::make_dirs(&RealFs, &fleet.dir().join(dir))?;
            }
        }
        for n in 0..count {
            // Each worker gets a brief and reports on it, and the next one's turn comes.
            let (turn, is_brief) = (n / 2, n % 2 == 0);
            let seq = Seq::try_from(turn / WORKERS + 1)?;
            let worker: WorkerId = format!("W{}", turn % WORKERS + 1).parse()?;
            let at = Timestamp::from_second(1_777_593_600 + i64::try_from(n)?)?;
            let dir = fleet.dir().join(worker.as_str()).join("archive/2026-05");
            let kind = match is_brief {
                true => mail.brief(dir.join("inbox"), &worker, seq, at, n)?,
                false => mail.report(dir.join("outbox"), &worker, seq, at, n)?,
            };
            // Writing to a text cannot fail.
            let _ = writeln!(
                history,
                "{{\"n\":{},\"at\":\"{at}\",\"repo\":\"{}\",\"kind\":\"{kind}\",\"actor\":\"ann\",\
                 \"worker\":\"{worker}\",\"seq\":{},\"detail\":{{\"summary\":\"Step {n}\"}}}}",
                first + n,
                repository.id,
                seq.get()
            );
        }
        let path = home.repository_dir(&repository.id).join("history.jsonl");
        fsx::append(&RealFs, &path, history.as_bytes(), fsx::Durability::Lazy)?;
        Ok(mail)
    }

    fn brief(
        &mut self,
        dir: PathBuf,
        worker: &WorkerId,
        seq: Seq,
        at: Timestamp,
        n: u64,
    ) -> Result<&'static str> {
        let body = words(n);
        let brief = Brief {
            seq,
            version: VERSION,
            kind: BriefKind::Dispatch,
            submitted_at: at,
            controller_session_id: "ann".to_owned(),
            target_worker: worker.clone(),
            target_ticket: Some(n.to_string()),
            expires_at: None,
            summary: format!("Step {n}"),
            in_reply_to: None,
            idempotency_key: Key::of(&body),
            extras: extras("TASK", n),
        };
        self.put(
            dir.join(layout::sidecar(seq)),
            &layout::write_brief(None, &brief),
        )?;
        self.put(dir.join(layout::body(seq)), body.as_bytes())?;
        self.put(dir.join(layout::read_flag(seq)), b"")?;
        Ok("relay.brief_proposed")
    }

    fn report(
        &mut self,
        dir: PathBuf,
        worker: &WorkerId,
        seq: Seq,
        at: Timestamp,
        n: u64,
    ) -> Result<&'static str> {
        let body = words(n);
        let report = Report {
            seq,
            version: VERSION,
            kind: ReportKind::Cycle,
            produced_at: at,
            worker_id: worker.clone(),
            ticket_id: Some(n.to_string()),
            claude_session_id: worker.to_string(),
            pr_number: None,
            next_action: None,
            in_reply_to: Some(seq),
            idempotency_key: Key::of(&body),
            body,
            extras: extras("DONE", n),
        };
        self.put(
            dir.join(layout::report(seq)),
            &layout::write_report(None, &report),
        )?;
        self.put(dir.join(layout::read_flag(seq)), b"")?;
        Ok("worker.paste_back")
    }

    /// Nothing of it has to survive.
    fn put(&mut self, path: PathBuf, bytes: &[u8]) -> Result<()> {
        RealFs.create(&path)?.write(bytes)?;
        self.files.push(path);
        Ok(())
    }

    fn read(&self) -> Result<()> {
        for path in &self.files {
            fsx::read(&RealFs, path)?;
        }
        Ok(())
    }

    fn run(&self, args: &[&str]) -> Result<()> {
        let output = self
            .repository
            .flagpost(args)
            .env("FLAGPOST_HOME", &self.home)
            .output()
            .context("cannot run flagpost")?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            bail!("flagpost {}: {}", args.join(" "), stderr.trim());
        }
        Ok(())
    }
}

fn extras(subject: &str, n: u64) -> Extras {
    Extras {
        subject: Some(subject.to_owned()),
        thread_id: Some(format!("epic-{}", n / 200)),
        ..Extras::default()
    }
}

/// Some ninety words; one message in a hundred has a kestrel in it.
fn words(n: u64) -> String {
    let word = |at: u64| {
        // A linear congruence scatters well enough.
        let mixed = (n * 90 + at).wrapping_mul(6_364_136_223_846_793_005);
        format!("{:x} ", (mixed >> 40) % 50_000)
    };
    let bird = if n.is_multiple_of(100) {
        "kestrel "
    } else {
        ""
    };
    format!("Step {n}: {bird}") + &(0..90).map(word).collect::<String>()
}
