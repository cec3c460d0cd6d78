//! `demo`: the main job, end to end, in a scratch repository.
//!
//! Owns a plan of twelve tasks, an agent that is a shell script, and another script that answers what it
//! asks. Everything else is what every run does: the same import, the same driver, the same files.

mod operator;

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use anyhow::bail;
use flagpost_core::{
    Home, List, Repository, files,
    git::Git,
    landing::ReviewRule,
    plans::{self, ImportInput, ImportMode, OnBroken},
    shell::quoted,
};
use flagpost_model::{
    SessionId, WorkerId,
    intake::Format,
    task::{DEFAULT_LEASE, KeptWorktrees, LandingMethod, Uncommitted},
};
use flagpost_run::{
    Limits, Options, RunReport, Terms, landing::LandingTerms, scheduler::RunConfig,
    worktree::Provision,
};
use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::Serialize;

use self::operator::Operator;
use super::run::watched;
use crate::{context::Context, output::Answer, progress::OutcomeCounts, screen::Screen};

const PLAN: &str = include_str!("../demo/PLAN.md");
const AGENT: &str = include_str!("../demo/agent.sh");
const OPERATOR: &str = include_str!("../demo/answer.sh");

/// The branch that the work lands on.
const TARGET: &str = "main";
/// What must succeed there, from when there are tests.
const CHECK: &str = "test ! -e run-tests.sh || sh run-tests.sh";

/// Longer takes neither a task nor an answer.
const PATIENCE: SignedDuration = SignedDuration::from_mins(2);

/// Run twelve tasks in a scratch repository
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost demo\n\
    Five shell-script agents write a small toolkit and its tests, in about fifteen seconds. One asks a \
    question, which a script answers; one fails and is tried again. What passed lands on the branch main, \
    where the tests run. Needs git and sh, no network.")]
pub struct DemoArgs {
    /// Where to work; must not exist yet [default: a new directory for temporary files]
    #[arg(long, value_name = "PATH")]
    dir: Option<PathBuf>,
}

/// So wide is a command at least, where another column follows.
const WIDTH: usize = 34;

/// Where the demonstration takes place.
struct DemoDirs {
    /// All of it.
    dir: PathBuf,
    /// What the agents work on.
    project: PathBuf,
    /// The scripts.
    agent: PathBuf,
    operator: PathBuf,
}

/// Runs it.
pub fn run(context: &Context, args: &DemoArgs) -> anyhow::Result<Answer> {
    let place = DemoDirs::make(args.dir.as_deref())?;
    let home = Home::at(place.dir.join("home"));
    let actor = context.actor()?;
    let repository = Repository::register(&home, &place.project, &actor)?;
    let list = List::open_or_create(&home, &repository.name, &repository)?;
    let plan = ImportInput::Text {
        name: "-".to_owned(),
        text: PLAN.to_owned(),
    };
    let plan = plans::understand(home.fs(), &plan, Some(Format::Markdown), OnBroken::Refuse)?;
    let tasks = plans::import(&list, &actor, &plan, ImportMode::Import)?;
    let note = format!(
        "{} tasks, five agents at a time, in {}",
        tasks.len(),
        place.project.display()
    );
    let is_told = !context.globals.json && !context.globals.quiet;
    if is_told {
        crate::streams::say(&note);
    }
    let operator = Operator::start(&place.operator, &place.project, &home, &context.settings)?;
    let options = options(actor, &place.agent)?;
    let (report, account) = watched(context, &home, &repository, &list, &options)?;
    drop(operator);

    let counts = OutcomeCounts::of(&account);
    let all = report.fates.len();
    let screen = Screen::of(context);
    let landed = report.landing.as_ref().map_or(0, |it| it.landed.len());
    let text = format!(
        "{}\n\n{}",
        screen.bold(&format!(
            "{} of {all} tasks passed; {landed} landed on {TARGET}",
            counts.passed
        )),
        where_to_look(context, &place, &home, &report)
    );
    let mut answer = Answer::of(&Demonstrated {
        dir: place.dir.to_string_lossy(),
        project: place.project.to_string_lossy(),
        home: home.root().to_string_lossy(),
        session: &report.session,
        session_dir: report.dir.to_string_lossy(),
        passed: counts.passed,
        failed: counts.failed,
        skipped: counts.rest + counts.stuck,
        landed,
    });
    answer = answer.text(text).ids([&report.session]);
    answer.notes.extend((!is_told).then_some(note));
    answer.code = u8::from(counts.passed < all);
    Ok(answer)
}

/// How the demonstration ended.
///
/// The last line of 'flagpost demo --json'; the lines before it are flagpost.event/1.
#[derive(Serialize, JsonSchema)]
pub struct Demonstrated<'a> {
    /// Where all of it is.
    dir: Cow<'a, str>,
    /// What the agents worked on.
    project: Cow<'a, str>,
    /// The demonstration's own home.
    home: Cow<'a, str>,
    /// The session's id.
    session: &'a SessionId,
    session_dir: Cow<'a, str>,
    passed: usize,
    failed: usize,
    /// Tasks that were not done.
    skipped: usize,
    /// Tasks whose work is on the branch main. One of them has none.
    landed: usize,
}

impl DemoDirs {
    fn make(dir: Option<&Path>) -> anyhow::Result<Self> {
        let dir = match dir {
            Some(dir) => std::path::absolute(dir)?,
            None => std::env::temp_dir().join(format!("flagpost-demo-{}", std::process::id())),
        };
        let files = [
            ("PLAN.md", PLAN),
            ("agent.sh", AGENT),
            ("answer.sh", OPERATOR),
        ];
        if !files::create_dir(&dir, &files)? {
            bail!(
                "{} exists already: name a directory that does not, with --dir",
                dir.display()
            );
        }
        let place = Self {
            project: dir.join("toolkit"),
            agent: dir.join("agent.sh"),
            operator: dir.join("answer.sh"),
            dir,
        };
        files::create_dir(&place.project, &[])?;
        place.begin()?;
        Ok(place)
    }

    /// A repository with a first commit, whatever the user's own settings of git.
    fn begin(&self) -> anyhow::Result<()> {
        Repository::create_git(&self.project)?;
        let git = |args: &[&str]| Git::at(&self.project).args(args).run();
        for (key, value) in [
            ("user.name", "demo"),
            ("user.email", "demo@localhost"),
            ("commit.gpgSign", "false"),
            ("core.hooksPath", ".git/hooks"),
        ] {
            git(&["config", key, value])?;
        }
        git(&["symbolic-ref", "HEAD", &format!("refs/heads/{TARGET}")])?;
        git(&["commit", "--quiet", "--allow-empty", "-m", "Begin"])?;
        Ok(())
    }
}

fn options(actor: WorkerId, agent: &Path) -> anyhow::Result<Options> {
    let agent = format!("sh {}", quoted(agent));
    Ok(Options {
        actor,
        agents: vec![agent.parse()?],
        workers: Vec::new(),
        allow: Vec::new(),
        config: RunConfig {
            timeout: Some(PATIENCE),
            wait_for_answers: true,
            ..RunConfig::default()
        },
        lease: DEFAULT_LEASE,
        stall_after: None,
        limits: Limits::default(),
        group: None,
        skip_failed: false,
        worktrees: true,
        provision: Provision::default(),
        uncommitted: Uncommitted::Commit,
        keep_worktrees: KeptWorktrees::Unlanded,
        terms: Terms::default(),
        land: Some(LandingTerms {
            onto: Some(TARGET.to_owned()),
            method: LandingMethod::Merge,
            check: Some(CHECK.to_owned()),
            timeout: PATIENCE,
            git_timeout: PATIENCE,
            batch: 4,
            retries: 2,
            push: None,
            keep: false,
            only: Vec::new(),
            requests: false,
            review: ReviewRule::Optional,
        }),
    })
}

/// Commands to type, one after the other, from wherever the reader stands.
fn where_to_look(context: &Context, place: &DemoDirs, home: &Home, report: &RunReport) -> String {
    let flagpost = program(context);
    let session = report.dir.strip_prefix(&place.project);
    let session = session.unwrap_or(&report.dir);
    let lines = [
        (format!("cd {}", quoted(&place.project)), "what they wrote"),
        (
            format!("export FLAGPOST_HOME={}", quoted(home.root())),
            "what Flagpost knows",
        ),
        ("sh run-tests.sh".to_owned(), "whether it works"),
        ("git log --oneline --graph".to_owned(), "how it landed"),
        (format!("{flagpost} list --all"), "the tasks"),
        (format!("{flagpost} show 3"), "a question and its answer"),
        (
            format!("{flagpost} logs 5 --attempt 1"),
            "why a task was tried twice",
        ),
        (format!("{flagpost} session show"), "the run"),
        (
            format!("cat {}/session_summary.md", quoted(session)),
            "its summary",
        ),
    ];
    let line = |(command, about): &(String, &str)| format!("  {command:<WIDTH$}  # {about}\n");
    format!(
        "Where to look:\n\n{}",
        lines.iter().map(line).collect::<String>()
    )
}

/// What starts this program from a shell: its name, where that finds it.
fn program(context: &Context) -> String {
    let own = std::env::current_exe().unwrap_or_default();
    let found = context.settings.path.iter().flat_map(std::env::split_paths);
    let found = found
        .map(|dir| dir.join("flagpost"))
        .find(|it| it.is_file());
    let same = |found: PathBuf| found.canonicalize().ok() == own.canonicalize().ok();
    match found.is_some_and(same) {
        true => "flagpost".to_owned(),
        false => quoted(&own),
    }
}
