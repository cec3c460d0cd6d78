//! `demo`: the main job, end to end, in a scratch repository.
//!
//! Owns a plan of twelve tasks and an agent that is a shell script. Everything else is what every
//! run does: the same import, the same driver, the same files.

use std::path::PathBuf;

use anyhow::bail;
use flagpost_core::{
    Home, Repository,
    plans::{self, Mode},
};
use flagpost_disk::{
    dialects::markdown_plan,
    fsx::{self, RealFs},
};
use flagpost_model::{
    intake::{Format, assemble},
    task::DEFAULT_LEASE,
};
use flagpost_run::{Options, scheduler::Config};
use serde_json::json;

use super::run::{count, watched};
use crate::{
    context::Context,
    output::{Answer, Screen},
    shape,
};

const PLAN: &str = include_str!("../demo/PLAN.md");
const AGENT: &str = include_str!("../demo/agent.sh");

/// Run twelve tasks in a scratch repository, and show where to look
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost demo\n\
    Five shell-script agents write a small toolkit and its tests. Needs git and sh, no network.")]
pub struct Args {
    /// Where to work; must not exist yet [default: a new directory for temporary files]
    #[arg(long, value_name = "PATH")]
    dir: Option<PathBuf>,
}

/// Runs it.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    let dir = match &args.dir {
        Some(dir) => std::path::absolute(dir)?,
        None => std::env::temp_dir().join(format!("flagpost-demo-{}", std::process::id())),
    };
    if fsx::stat(&RealFs, &dir)?.is_some() {
        bail!(
            "{} exists already: name a directory that does not, with --dir",
            dir.display()
        );
    }
    let project = dir.join("toolkit");
    fsx::make_dirs(&RealFs, &project)?;
    fsx::replace(&RealFs, &dir.join("PLAN.md"), PLAN.as_bytes())?;
    fsx::replace(&RealFs, &dir.join("agent.sh"), AGENT.as_bytes())?;
    Repository::create_git(&project)?;

    let home = Home::at(dir.join("home"));
    let actor = context.actor()?;
    let repository = Repository::register(&home, &project, &actor)?;
    let list = flagpost_core::List::open_or_create(&home, &repository.name, &repository)?;
    let plan = assemble(Format::Markdown, markdown_plan::parse(PLAN)?.into())?;
    let tasks = plans::import(&list, &actor, &plan, Mode::Import)?;
    let wanted = flagpost_run::Wanted {
        group: None,
        skip_failed: false,
        now: home.now(),
    };
    let waves = flagpost_run::plan(&list.load()?.outlines, wanted);
    let mut notes = vec![format!(
        "{} tasks in {} waves, five agents at a time, in {}",
        tasks.len(),
        waves.len(),
        project.display()
    )];
    if !context.globals.json && !context.globals.quiet {
        notes.drain(..).for_each(|note| crate::output::say(&note));
    }

    let agent = format!(
        "sh {}",
        shell_word(&dir.join("agent.sh").display().to_string())
    );
    let options = Options {
        actor,
        agent: Some(agent.parse()?),
        workers: Vec::new(),
        config: Config::default(),
        lease: DEFAULT_LEASE,
        stall_after: None,
        group: None,
        skip_failed: false,
        worktrees: false,
    };
    let report = watched(context, &home, &repository, &list, &options)?;

    let (passed, failed, rest) = count(&report);
    let screen = Screen::of(context);
    let all = report.fates.len();
    let text = format!(
        "{}\n\n\
         The toolkit     {project}\n\
         What happened   {session}/session_summary.md\n\
         What they said  {session}/logs/\n\
         What they know  {session}/execution_context.md\n\
         The record      {home}/repos/*/history.jsonl\n\
         Try             cd {project} && sh run-tests.sh\n\
         \x20               FLAGPOST_HOME={home} flagpost list --all\n",
        screen.bold(&format!("{passed} of {all} tasks passed")),
        project = project.display(),
        session = report.dir.display(),
        home = home.root().display(),
    );
    let body = json!({
        "dir": shape::path(&dir), "project": shape::path(&project), "home": shape::path(home.root()), "session": report.session,
        "session_dir": shape::path(&report.dir), "passed": passed, "failed": failed, "skipped": rest,
    });
    let mut answer = Answer::new("demo", body)
        .text(text)
        .ids([&report.session])
        .notes(notes);
    answer.code = u8::from(passed < all);
    Ok(answer)
}

/// The text as one word of a command line.
fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
