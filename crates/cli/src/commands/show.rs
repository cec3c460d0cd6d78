//! `show`: everything about one task.

use flagpost_model::task::Task;

use crate::{
    context::Context,
    output::{Answer, Screen},
    shape,
    terminal::line,
};

/// Show a task in full
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost show 7")]
pub struct Args {
    /// The task [default: $FLAGPOST_TASK]
    id: Option<String>,
}

/// Shows it.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    let list = context.list()?;
    let id = context.task(&list, args.id.as_deref())?;
    let task = list.task(&id)?.task;
    let text = page(Screen::of(context), &task);
    Ok(Answer::new("task", shape::task(&task))
        .text(text)
        .ids([&task.id]))
}

fn page(screen: Screen, task: &Task) -> String {
    let ids = |ids: &[flagpost_model::TaskId]| {
        ids.iter()
            .map(|id| id.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let claim = task.state.claim().map(|claim| {
        let session = claim.session.as_ref().map(|id| format!(", session {id}"));
        format!(
            "by {}, token {}, until {}{}",
            claim.by,
            claim.token,
            claim.expires_at,
            session.unwrap_or_default()
        )
    });
    let rows = [
        ("state", Some(screen.state(task.state.name()))),
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
        ("parent", task.parent.as_ref().map(|id| id.to_string())),
        (
            "attempts",
            (task.attempts > 0).then(|| task.attempts.to_string()),
        ),
    ];
    let mut text = format!("{} {}\n", task.id, screen.bold(&line(&task.subject)));
    for (name, value) in rows {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            text += &format!("  {name:<11}{}\n", line(&value));
        }
    }
    if !task.description.is_empty() {
        text += &format!("\n{}\n", task.description.trim_end());
    }
    if let Some(result) = &task.result {
        text += &format!("\n{} by {} at {}\n", result.ending, result.by, result.at);
        if !result.text.is_empty() {
            text += &format!("{}\n", result.text.trim_end());
        }
    }
    for late in &task.late {
        text += &format!(
            "\nlate result: {} by {} at {}\n{}\n",
            late.ending,
            late.by,
            late.at,
            late.text.trim_end()
        );
    }
    text
}
