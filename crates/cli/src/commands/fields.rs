//! The options that set a task's fields and what is said afterwards, the same for `add` and `edit`.

use flagpost_core::tasks::Fields;
use flagpost_model::task::{Priority, Task};
use jiff::civil::Date;

use crate::{
    error::Invalid,
    output::Answer,
    shape,
    terminal::line,
    text::{Source, one_line},
};

/// Fields of a task.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Fields")]
pub struct FieldArgs {
    /// What is to be done, in full; - reads stdin
    #[arg(long, short, value_name = "TEXT")]
    pub description: Option<String>,
    /// Read the description from a file
    #[command(flatten)]
    pub source: Source,
    /// critical, high, medium, low or none
    #[arg(long, short, value_parser = priority)]
    pub priority: Option<Wanted<Priority>>,
    /// The feature it belongs to
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
    /// The project it belongs to
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// How large it is, in your own scale: S, M, L…
    #[arg(long, value_name = "SIZE")]
    pub complexity: Option<String>,
    /// A label; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// When it is due: 2026-12-01, or none
    #[arg(long, value_name = "DATE", value_parser = due)]
    pub due: Option<Wanted<Date>>,
    /// Your own name for it; planning it again under this name updates it
    #[arg(long, value_name = "UID")]
    pub uid: Option<String>,
}

/// A value, or none at all.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<T>(Option<T>);

fn priority(text: &str) -> Result<Wanted<Priority>, String> {
    match text {
        "none" => Ok(Wanted(None)),
        _ => text
            .parse()
            .map(|priority| Wanted(Some(priority)))
            .map_err(|_| {
                let known: Vec<_> = Priority::ALL
                    .iter()
                    .map(|priority| priority.as_str())
                    .collect();
                format!("use one of {}, none", known.join(", "))
            }),
    }
}

fn due(text: &str) -> Result<Wanted<Date>, String> {
    match text {
        "none" => Ok(Wanted(None)),
        _ => date(text).map(|date| Wanted(Some(date))),
    }
}

fn date(text: &str) -> Result<Date, String> {
    text.parse()
        .map_err(|_| "use a date, as in 2026-12-01".to_owned())
}

impl FieldArgs {
    /// The fields as the core takes them.
    pub fn read(&self, subject: Option<&str>) -> anyhow::Result<Fields> {
        let description = self.source.read(self.description.as_deref())?;
        let subject = subject.map(one_line).transpose()?;
        if subject
            .as_ref()
            .is_some_and(|subject| subject.contains(['\n', '\r']))
        {
            return Err(Invalid {
                what: "subject".to_owned(),
                reason: "one line; the rest belongs into --description".to_owned(),
            }
            .into());
        }
        Ok(Fields {
            subject,
            description,
            active_form: None,
            priority: self.priority.map(|wanted| wanted.0),
            complexity: self.complexity.clone(),
            group: self.group.clone(),
            project: self.project.clone(),
            tags: (!self.tags.is_empty()).then(|| {
                let told = self.tags.iter().filter(|tag| !tag.is_empty());
                told.cloned().collect()
            }),
            due: self.due.map(|wanted| wanted.0),
            uid: self.uid.clone(),
        })
    }
}

/// What is said about a task whose fields were just set: of a long text its length, so that a
/// mangled one is noticed at once.
pub fn answer(done: &str, task: &Task, fields: &Fields) -> Answer {
    let echo = fields
        .description
        .as_ref()
        .map(|text| format!(" (description: {} bytes)", text.len()))
        .unwrap_or_default();
    let text = format!("{done} {} {}{echo}", task.id, line(&task.subject));
    Answer::new("task", shape::task(task))
        .text(text)
        .ids([&task.id])
}
