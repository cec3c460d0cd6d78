//! Sixteen processes that claim from one list until nothing is left.
//!
//! Owns the count of tasks that two of them got, which must be none. They are measured twice: each
//! claim a cold process, as shell scripts do it, and long-lived processes, as agents' servers do.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use flagpost_core::{
    Config, Error, FailureKind, List,
    claims::{self, Terms},
    config::keys::CLAIM_LEASE,
};

use crate::{
    Bench,
    child::{Child, Role},
    floor,
    row::{BenchRow, Samples},
    scratch::Repository,
    verbs,
};

const CLAIMERS: usize = 16;

/// claims-cold, claims-lived.
pub fn measure(bench: &Bench<'_>) -> Result<Vec<BenchRow>> {
    let mut rows = Vec::new();
    for (name, what, race) in [
        (
            "claims-cold",
            "16 loops of cold flagpost claim --next",
            cold as Race,
        ),
        (
            "claims-lived",
            "16 processes that each claim in a loop",
            lived as Race,
        ),
    ] {
        if !bench.wants(name) {
            continue;
        }
        let tasks = bench.effort.race;
        let repository = bench.scratch.repository(name)?;
        repository.import(&verbs::plan(bench, tasks)?)?;
        repository.settle()?;
        let log = bench.scratch.dir().join("lines");
        let floor: Samples = (0..bench.effort.writes)
            .map(|_| bench.scratch.time(|| Ok(floor::line(&log, &[b'x'; 300])?)))
            .collect::<Result<Vec<_>>>()?
            .into_iter()
            .collect();
        let (took, claimed) = race(&repository)?;
        let mut times: BTreeMap<&str, u64> = BTreeMap::new();
        for id in &claimed {
            *times.entry(id).or_default() += 1;
        }
        // Each fifth task waits for the one before it, which nobody completes here.
        if times.len() != tasks - tasks / 5 {
            bail!("{} of {tasks} tasks were claimed", times.len());
        }
        let each = took.div_f64(claimed.len() as f64);
        rows.push(BenchRow {
            name: name.to_owned(),
            what: what.to_owned(),
            floor_is: "one line appended and synced",
            floor,
            ours: Samples::from_iter([each]),
            per_second: Some(1.0 / each.as_secs_f64()),
            doubles: times.values().filter(|&&times| times > 1).count() as u64,
            ..BenchRow::default()
        });
    }
    Ok(rows)
}

type Race = fn(&Repository<'_>) -> Result<(Duration, Vec<String>)>;

/// Each claim is a process.
fn cold(repository: &Repository<'_>) -> Result<(Duration, Vec<String>)> {
    let began = Instant::now();
    let claimed = std::thread::scope(|scope| {
        let claimers: Vec<_> = (0..CLAIMERS)
            .map(|n| scope.spawn(move || one_after_another(repository, &format!("W{n}"))))
            .collect();
        let mut claimed = Vec::new();
        for claimer in claimers {
            match claimer.join() {
                Ok(ids) => claimed.extend(ids?),
                Err(_) => bail!("a claimer panicked"),
            }
        }
        Ok(claimed)
    })?;
    Ok((began.elapsed(), claimed))
}

fn one_after_another(repository: &Repository<'_>, worker: &str) -> Result<Vec<String>> {
    let mut claimed = Vec::new();
    loop {
        let mut command = repository.flagpost(&["claim", "--next", "--quiet", "--as", worker]);
        let output = command.stdout(Stdio::piped()).output()?;
        match output.status.code() {
            Some(0) => claimed.push(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            Some(code) if code == i32::from(FailureKind::NotFound as u8) => return Ok(claimed),
            _ => bail!("{}", String::from_utf8_lossy(&output.stderr).trim()),
        }
    }
}

/// Each claimer is a process. They begin when their stdin ends.
fn lived(repository: &Repository<'_>) -> Result<(Duration, Vec<String>)> {
    let claimers = (0..CLAIMERS)
        .map(|n| {
            let worker = format!("W{n}");
            let mut command = repository.bench(&["claimer", "--as", &worker])?;
            command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            command.spawn().context("cannot run myself")
        })
        .collect::<Result<Vec<_>>>()?;
    std::thread::sleep(Duration::from_millis(100));
    let began = Instant::now();
    let mut waiting = claimers;
    for claimer in &mut waiting {
        drop(claimer.stdin.take());
    }
    let mut claimed = Vec::new();
    for claimer in waiting {
        let output = claimer.wait_with_output()?;
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let ids = String::from_utf8_lossy(&output.stdout);
        claimed.extend(ids.lines().map(str::to_owned));
    }
    Ok((began.elapsed(), claimed))
}

/// What one of those processes does; it names what it claimed.
pub fn claimer(role: &Role) -> Result<()> {
    let child = Child::new(role)?;
    let list = List::open(&child.home, &child.repository.name)?;
    let terms = Terms {
        actor: child.me,
        lease: Config::read(&child.home)?.need(&CLAIM_LEASE)?,
        session: None,
    };
    std::io::stdin().read_to_end(&mut Vec::new())?;
    let mut claimed = String::new();
    loop {
        match claims::claim_next(&list, &terms) {
            Ok(one) => claimed += &format!("{}\n", one.task.id),
            Err(Error::NothingReady { .. }) => break,
            Err(error) => return Err(error.into()),
        }
    }
    std::io::stdout().write_all(claimed.as_bytes())?;
    Ok(())
}
