//! `doctor`: look whether everything holds, and mend what can be mended.

mod agents;

pub use agents::Agents;

use std::collections::{BTreeMap, BTreeSet};

use flagpost_core::{
    answers,
    doctor::{self, Examined, Finding, FindingCounts, Fix, Mended, Repair, RepairOutcome},
};
use flagpost_model::finding::{Code, Severity};

use crate::{
    context::Context,
    error::usage,
    output::Answer,
    screen::Screen,
    streams::{ask, say},
    terminal::line,
};

/// Check your setup, and repair it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples: flagpost doctor\n\
    flagpost doctor --fix --dry-run\n\
    flagpost doctor --agents\n\n\
    Looks at the whole home and at every repository registered in it, and changes nothing.\n\
    With --fix it says first what it would do. It never deletes content.\n\
    Exits with 1 where there are errors, or a repair failed; warnings and notes are no errors.\n\
    With --agents it looks at the programs that do tasks instead, which takes a few seconds.\n\
    docs/doctor.md explains each finding.")]
pub struct DoctorArgs {
    /// Mend what can be mended without loss
    #[arg(long)]
    pub fix: bool,
    /// With --fix: say what would be done, and do nothing
    #[arg(long, requires = "fix")]
    dry_run: bool,
    /// With --fix or --try: do not ask
    #[arg(long, short)]
    yes: bool,
    /// Look at the agents instead: whether each client is there, knows its options, and is signed in
    #[arg(long, conflicts_with = "fix")]
    agents: bool,
    /// With --agents: also have each client write one report, at your cost
    #[arg(long, requires = "agents")]
    r#try: bool,
}

/// So many findings of one code are shown; --json shows all.
const SHOWN: usize = 10;

/// Looks, and mends where that is asked for.
pub fn run(context: &Context, args: &DoctorArgs) -> anyhow::Result<Answer> {
    if args.yes && !args.fix && !args.r#try {
        return Err(usage("--yes is for --fix and for --try"));
    }
    if args.agents {
        return agents::run(context, args);
    }
    let mut findings = examine(context);
    // Several findings may need the same.
    let fixes: BTreeSet<Fix> = fixes(&findings).cloned().collect();
    let mut mended = Vec::new();
    // Nothing is written by a clock that is beyond all times; the finding says so.
    if args.fix && context.home.must_know_the_time().is_ok() {
        for fix in &fixes {
            say(&format!("flagpost: would {}", line(&fix.to_string())));
        }
        if !args.dry_run {
            if !fixes.is_empty() {
                confirm(args, fixes.len())?;
            }
            mended = doctor::mend(
                &context.home,
                &context.actor()?,
                fixes.into_iter().collect(),
            );
            findings = examine(context);
        }
    }
    Ok(answer(context, args, &findings, &mended))
}

fn examine(context: &Context) -> Vec<Finding> {
    let mut findings = doctor::examine(&context.home, &context.dir);
    let daemon = super::daemon::instance(context).ok().flatten();
    if let Some(instance) = daemon.filter(|it| !it.is_of_this_version()) {
        let what = format!("it is Flagpost {}", instance.version);
        let finding = Finding::new(Code::DaemonOther, what);
        findings.push(finding.by_hand("'flagpost up' replaces it"));
    }
    if let Ok(Some(repository)) = context.repository() {
        findings.extend(flagpost_run::worktree::findings(&context.home, &repository));
    }
    findings.sort_by_key(Finding::severity);
    findings
}

fn fixes(findings: &[Finding]) -> impl Iterator<Item = &Fix> {
    findings.iter().filter_map(|finding| match &finding.repair {
        Repair::Fix(fix) => Some(fix),
        Repair::Nothing | Repair::ByHand(_) => None,
    })
}

fn confirm(args: &DoctorArgs, count: usize) -> anyhow::Result<()> {
    if args.yes {
        return Ok(());
    }
    match ask(&format!("do all {count}?"))? {
        Some(true) => Ok(()),
        Some(false) => Err(usage("nothing was mended")),
        None => Err(usage(
            "nobody is there to confirm, so nothing was mended; --dry-run shows what would be done",
        )),
    }
}

fn answer(context: &Context, args: &DoctorArgs, findings: &[Finding], mended: &[Mended]) -> Answer {
    let counts = FindingCounts::from(findings);
    let answer = Examined::new(
        context.home.root().to_string_lossy(),
        answers::each(findings),
        &counts,
        answers::each(mended),
        args.dry_run,
    );
    let failed = mended
        .iter()
        .any(|it| matches!(it.outcome, RepairOutcome::Failed(_)));
    let mut answer = Answer::of(&answer)
        .text(text(Screen::of(context), findings, mended, &counts))
        .ids(findings.iter().map(|finding| finding.code));
    answer.code = u8::from(counts.error > 0 || failed);
    answer
}

fn text(screen: Screen, findings: &[Finding], mended: &[Mended], counts: &FindingCounts) -> String {
    let mut text = String::new();
    for it in mended {
        let why = it.outcome.why().map(|why| format!(": {why}"));
        let why = why.unwrap_or_default();
        let what = line(&format!("{}{why}", it.fix));
        text += &format!("{:<8} {what}\n", it.outcome.as_str());
    }
    if !mended.is_empty() {
        text.push('\n');
    }
    if findings.is_empty() {
        return text + "everything holds\n";
    }
    for severity in Severity::ALL {
        let mut of_code = BTreeMap::new();
        let these = findings.iter().filter(|it| it.severity() == *severity);
        for finding in these {
            let seen: &mut usize = of_code.entry(finding.code).or_default();
            *seen += 1;
            if *seen <= SHOWN {
                text += &finding_text(screen, finding);
            }
        }
        for (code, seen) in of_code {
            if seen > SHOWN {
                text += &format!(
                    "… and {} more {code}; --json names them all\n",
                    seen - SHOWN
                );
            }
        }
    }
    let counted: Vec<String> = counts
        .each()
        .filter(|(_, n)| *n > 0)
        .map(|(severity, n)| format!("{n} {severity}{}", if n == 1 { "" } else { "s" }))
        .collect();
    text += &format!("\n{}\n", counted.join(", "));
    let fixable = fixes(findings).count();
    if fixable > 0 {
        text += &format!("'flagpost doctor --fix' mends {fixable} of them\n");
    }
    text
}

/// A finding: what, where, and what to do.
fn finding_text(screen: Screen, finding: &Finding) -> String {
    let mut text = format!(
        "{} {}: {}\n",
        screen.state(finding.severity().as_str()),
        screen.bold(finding.code.as_str()),
        line(&finding.what)
    );
    if let Some(path) = &finding.path {
        text += &format!("  where   {}\n", line(&path.to_string_lossy()));
    }
    match &finding.repair {
        Repair::Nothing => {}
        Repair::ByHand(hint) => text += &format!("  repair  {}\n", line(hint)),
        Repair::Fix(fix) => text += &format!("  --fix   {}\n", line(&fix.to_string())),
    }
    text
}
