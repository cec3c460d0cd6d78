//! `show`: everything about one task.

use flagpost_core::answers::TaskAnswer;
use flagpost_model::{
    plan::{Family, PartsProgress},
    task::{Effort, Landing, NO_COMMIT, Origin, Question, Task},
};
use jiff::Timestamp;

use crate::{context::Context, output::Answer, progress::short, screen::Screen, terminal::line};

/// Show a task in full
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost show 7")]
pub struct ShowArgs {
    /// The task [default: $FLAGPOST_TASK]
    id: Option<String>,
}

/// Shows it.
pub fn run(context: &Context, args: &ShowArgs) -> anyhow::Result<Answer> {
    let list = context.list()?;
    let id = context.task(&list, args.id.as_deref())?;
    let task = list.task(&id)?.task;
    let outlines = list.load()?.outlines;
    let parts = Family::new(&outlines).progress(&id);
    let text = page(Screen::of(context), &task, parts, context.home.now());
    let mut shown = TaskAnswer::from(&task);
    shown.parts = Some(parts);
    Ok(Answer::of(&shown).text(text).ids([&task.id]))
}

fn page(screen: Screen, task: &Task, parts: Option<PartsProgress>, now: Timestamp) -> String {
    let tracked = (task.tracked > Effort::default() || task.timer.is_some()).then(|| {
        let running = task.timer.as_ref();
        let running =
            running.map(|timer| format!(", {} began {}", timer.by, screen.time(timer.since)));
        format!("{}{}", task.effort(now), running.unwrap_or_default())
    });
    let added = task.provenance.as_ref().map(|it| {
        let hand = match it.origin {
            Origin::Person => "",
            Origin::Agent => " (an agent)",
            Origin::Import => " (an import)",
        };
        format!("by {}{hand}, {}", it.by, screen.time(it.at))
    });
    let ids = |ids: &[flagpost_model::TaskId]| {
        ids.iter()
            .map(|id| id.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let claim = task.state.claim().map(|claim| {
        let session = claim.session.as_ref().map(|id| format!(", session {id}"));
        format!(
            "by {}, token {}, lease ends {}{}",
            claim.by,
            claim.token,
            screen.time(claim.expires_at),
            session.unwrap_or_default()
        )
    });
    let rows = [
        ("state", Some(screen.state(task.state.name().as_str()))),
        (
            "priority",
            task.priority.map(|priority| priority.to_string()),
        ),
        ("owner", task.owner.clone()),
        ("claim", claim),
        ("waits for", Some(ids(&task.blocked_by))),
        ("blocks", Some(ids(&task.blocks))),
        ("complexity", task.complexity.clone()),
        ("group", task.group.clone()),
        ("project", task.project.clone()),
        ("tags", Some(task.tags.join(" "))),
        ("due", task.due.map(|due| due.to_string())),
        ("not before", task.not_before.map(|at| at.to_string())),
        ("part of", task.parent.as_ref().map(|id| id.to_string())),
        (
            "parts",
            parts.map(|it| format!("{} of {} done", it.completed, it.total)),
        ),
        ("estimate", task.estimate.map(|it| it.to_string())),
        ("tracked", tracked),
        ("uid", task.uid.clone()),
        ("added", added),
        (
            "attempts",
            (task.attempts > 0).then(|| task.attempts.to_string()),
        ),
        (
            "landing",
            task.landing.as_ref().map(|it| landing(screen, it)),
        ),
    ];
    let metadata = task
        .metadata
        .iter()
        .map(|(key, value)| (line(key), value.to_string()));
    let mut text = format!("{} {}\n", task.id, screen.bold(&line(&task.subject)));
    for (name, value) in rows {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            text += &format!("  {name:<11} {}\n", line(&value));
        }
    }
    for (key, value) in metadata {
        text += &format!("  {key:<11} {}\n", line(&value));
    }
    if !task.description.is_empty() {
        text += &format!("\n{}\n", task.description.trim_end());
    }
    for note in task.remarks() {
        text += &attributed(screen, "note", (note.by.as_deref(), note.at), &note.text);
    }
    let open = task.question();
    text += &questions(screen, task, open.as_ref());
    // Who was stuck is told of by the question.
    if let Some(result) = task.result.as_ref().filter(|_| open.is_none()) {
        let (by, at) = (Some(result.by.as_str()), Some(result.at));
        let ending = screen.state(result.ending.as_str());
        text += &attributed(screen, &ending, (by, at), &result.text);
    }
    for late in &task.late {
        let (by, at) = (Some(late.by.as_str()), Some(late.at));
        let what = format!("late result: {}", late.ending);
        text += &attributed(screen, &what, (by, at), &late.text);
    }
    text
}

/// What became of its work on its way to the target branch.
fn landing(screen: Screen, landing: &Landing) -> String {
    match landing {
        Landing::Landed(it) => {
            let (onto, commit, at) = (&it.onto, short(&it.commit), screen.time(it.at));
            format!("landed on {onto} ({commit}), {at}")
        }
        Landing::NoCommit(at) => format!("{NO_COMMIT}, {}", screen.time(*at)),
        Landing::Refused(it) => {
            let first = it.why.lines().next().unwrap_or_default();
            let at = screen.time(it.at);
            match &it.by {
                Some(by) => format!("returned by {by}, {at}: {first}"),
                None => format!("did not land on {}, {at}: {first}", it.onto),
            }
        }
        Landing::Approved(it) => {
            let (by, commit, at) = (&it.by, short(&it.commit), screen.time(it.at));
            format!("approved by {by} ({commit}), {at}")
        }
    }
}

/// Each question with its answers, and how the open one is answered.
fn questions(screen: Screen, task: &Task, open: Option<&Question>) -> String {
    let (mut text, mut last) = (String::new(), 0);
    let question = |asked: &Question| {
        let what = format!("question {}", asked.n);
        attributed(screen, &what, (asked.by.as_deref(), asked.at), &asked.text)
    };
    for (asked, answer) in task.answered() {
        if asked.n != last {
            text += &question(asked);
        }
        last = asked.n;
        text += &attributed(
            screen,
            "answer",
            (answer.by.as_deref(), answer.at),
            &answer.text,
        );
    }
    if let Some(asked) = open {
        text += &question(asked);
        text += &format!("\nanswered with: flagpost answer {} 'WORDS'\n", task.id);
    }
    text
}

/// Words about a task below who said them when.
fn attributed(
    screen: Screen,
    what: &str,
    (by, at): (Option<&str>, Option<Timestamp>),
    words: &str,
) -> String {
    let at = at.map(|at| format!(", {}", screen.time(at)));
    let words = Some(words.trim_end()).filter(|it| !it.is_empty());
    let words = words.map(|it| format!("{it}\n")).unwrap_or_default();
    format!(
        "\n{what} by {}{}\n{words}",
        line(by.unwrap_or("somebody")),
        at.unwrap_or_default()
    )
}
