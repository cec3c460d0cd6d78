//! Starting a landing from a screen, or from a program that asks for it.
//!
//! Owns the process: this program's own `flagpost land`, apart from whoever asked, so that it goes on when a screen is
//! closed. It is over once the landing has begun, or has said why not; how far it comes, [`super::LandingView`] says.

use std::{
    io,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use flagpost_disk::fsx;
use flagpost_model::{TaskId, WorkerId};
use serde_json::Value;

use super::{GitSettings, LandingActivity, LandingRefusal, Target};
use crate::{
    error::{Error, Result},
    home::Home,
    list::List,
    repository::Repository,
};

/// What it prints, beside the lock.
const LOG: &str = "land.log";
/// So long it may take until it is seen at work: one that waits for git longer is under way all the same.
const SEEN: Duration = Duration::from_secs(10);
/// How often it is looked at meanwhile.
const PAUSE: Duration = Duration::from_millis(10);

/// Starts the landing of these tasks, or of all that can land. What git runs must be what a person saw last: nobody is
/// there to be asked.
pub fn start(
    list: &List<'_>,
    repository: &Repository,
    actor: &WorkerId,
    (onto, ids): (Option<&str>, &[TaskId]),
) -> Result<()> {
    let home = list.home;
    // Where there is no such place, the words are better than those of a process that ended.
    Target::of(repository, onto)?;
    let what = GitSettings::of(repository)?.changed(home, repository)?;
    if !what.is_empty() {
        return Err(LandingRefusal::GitChanged { what }.into());
    }
    let failed = |error: io::Error| LandingRefusal::NotStarted {
        why: error.to_string(),
    };
    let program = home.environment().program.as_deref();
    let program = program.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
    let log = home.repository_dir(&repository.id).join(LOG);
    fsx::remove(home.fs(), &log)?;
    let out = fsx::open_log(&log)?;
    let mut command = Command::new(program);
    command
        .args(["land", "--yes", "--json", "--as", actor.as_str()])
        .arg("--list")
        .arg(list.id().as_str())
        .args(onto.map(|it| format!("--onto={it}")))
        .args(ids.iter().map(TaskId::as_str))
        .current_dir(&repository.top)
        .env("FLAGPOST_HOME", home.root())
        // Whoever asks was asked who it is; this process is the operator's.
        .env_remove("FLAGPOST_WORKER")
        .env_remove("FLAGPOST_LIST")
        .env_remove("FLAGPOST_TASK")
        .env_remove("FLAGPOST_TOKEN")
        .stdin(Stdio::null())
        .stdout(out.try_clone().map_err(failed)?)
        .stderr(out)
        .process_group(0);
    let mut child = command.spawn().map_err(failed)?;
    let ended = seen(&mut child, || {
        Ok(LandingActivity::read(home, repository)?.is_some())
    })?;
    match ended {
        Some(status) if status.code().is_none_or(|it| it > 1) => Err(why_not(home, &log)?),
        Some(_) => Ok(()),
        None => {
            // Else it stays behind as a zombie for as long as we live.
            thread::spawn(move || child.wait());
            Ok(())
        }
    }
}

/// Waits until it is seen at work or has ended; how it ended.
fn seen(child: &mut Child, is_at_work: impl Fn() -> Result<bool>) -> Result<Option<ExitStatus>> {
    let begun = Instant::now();
    while begun.elapsed() < SEEN {
        let ended = child
            .try_wait()
            .map_err(|error| LandingRefusal::NotStarted {
                why: error.to_string(),
            });
        if let Some(status) = ended? {
            return Ok(Some(status));
        }
        if is_at_work()? {
            break;
        }
        thread::sleep(PAUSE);
    }
    Ok(None)
}

/// What it said last.
fn why_not(home: &Home, log: &Path) -> Result<Error> {
    let text = fsx::read_lossy(home.fs(), log)?.unwrap_or_default();
    let last = text.lines().rfind(|it| !it.trim().is_empty());
    let last = last.unwrap_or("it ended without a word");
    let told: Option<Value> = serde_json::from_str(last).ok();
    let why = told.as_ref().and_then(|it| it["message"].as_str());
    let why = why.unwrap_or(last).to_owned();
    Ok(LandingRefusal::NotStarted { why }.into())
}
