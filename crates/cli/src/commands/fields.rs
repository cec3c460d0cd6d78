//! The options that set a task's fields and what is said afterwards, the same for `add` and `edit`.

use std::path::PathBuf;

use flagpost_core::{
    List,
    tasks::{Fields, Labels},
};
use flagpost_model::{
    TaskId,
    names::{Named, UnknownName},
    query::plain_date,
    task::{Effort, InvalidEffort, Priority, Task},
};
use jiff::{Timestamp, civil::Date};
use serde_json::Value;

use crate::{
    context::Context,
    error::usage,
    terminal::title,
    text::{TextArg, one_line},
};

/// Fields of a task.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Fields")]
pub struct FieldArgs {
    /// What is to be done, in full; - reads stdin
    #[arg(long, short, value_name = "TEXT")]
    pub description: Option<String>,
    /// Read the description from this file; - is stdin
    #[arg(long, value_name = "PATH")]
    pub file: Option<PathBuf>,
    /// critical, high, medium, low or none
    #[arg(long, short, value_parser = word_or_none::<Priority>)]
    pub priority: Option<Clearable<Priority>>,
    /// The feature it belongs to
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
    /// The project it belongs to
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// How large it is, in your own scale: S, M, L…
    #[arg(long, value_name = "SIZE")]
    pub complexity: Option<String>,
    /// A label; may be repeated. On edit they take the place of those it has
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// When it is due: 2026-12-01, today, tomorrow, or none
    #[arg(long, value_name = "DATE", value_parser = day_or_none)]
    pub due: Option<Clearable<Day>>,
    /// Do not hand it out before this day, or none
    #[arg(long, value_name = "DATE", value_parser = day_or_none)]
    pub not_before: Option<Clearable<Day>>,
    /// The task it is part of, or none
    #[arg(long, value_name = "ID")]
    pub parent: Option<String>,
    /// How much work it is: 90m, 2h, 1h30m, 1d (8 hours), 1w (5 days), or none
    #[arg(long, value_name = "TIME", value_parser = effort_or_none)]
    pub estimate: Option<Clearable<Effort>>,
    /// Anything else, under a key of yours; JSON or a text; KEY= takes it away; may be repeated
    #[arg(long = "meta", value_name = "KEY=VALUE", value_parser = pair)]
    pub metadata: Vec<(String, Option<Value>)>,
    /// Your own name for it, which no other task has; importing that name updates it
    #[arg(long, value_name = "UID")]
    pub uid: Option<String>,
}

/// A value, or none at all.
#[derive(Debug, Clone, Copy)]
pub struct Clearable<T>(Option<T>);

/// A day, as people say it.
#[derive(Debug, Clone, Copy)]
pub enum Day {
    /// This one.
    Today,
    /// The next one.
    Tomorrow,
    /// That one.
    On(Date),
}

impl Day {
    fn date(self, context: &Context) -> Date {
        let today = context.home.today();
        match self {
            Self::Today => today,
            Self::Tomorrow => today.tomorrow().unwrap_or(today),
            Self::On(date) => date,
        }
    }
}

/// One of a closed set of words, or none.
fn word_or_none<T: Named>(text: &str) -> Result<Clearable<T>, String> {
    match text {
        "none" => Ok(Clearable(None)),
        _ => match text.parse() {
            Ok(value) => Ok(Clearable(Some(value))),
            Err(UnknownName { allowed, .. }) => {
                Err(format!("use one of {}, none", allowed.join(", ")))
            }
        },
    }
}

fn effort_or_none(text: &str) -> Result<Clearable<Effort>, String> {
    match text {
        "none" => Ok(Clearable(None)),
        _ => text
            .parse()
            .map(|effort| Clearable(Some(effort)))
            .map_err(|error: InvalidEffort| error.to_string()),
    }
}

fn day_or_none(text: &str) -> Result<Clearable<Day>, String> {
    Ok(Clearable(match text {
        "none" => None,
        "today" => Some(Day::Today),
        "tomorrow" => Some(Day::Tomorrow),
        _ => Some(Day::On(plain_date(text).ok_or(
            "use a date that exists, as in 2026-12-01, or today, tomorrow, none",
        )?)),
    }))
}

/// A value that is no JSON is the text that it looks like.
fn pair(text: &str) -> Result<(String, Option<Value>), String> {
    let (key, value) = text.split_once('=').ok_or("use KEY=VALUE")?;
    let value = match value {
        "" => None,
        _ => Some(serde_json::from_str(value).unwrap_or_else(|_| value.into())),
    };
    Ok((key.to_owned(), value))
}

impl FieldArgs {
    /// The fields as the core takes them.
    pub fn read(&self, context: &Context, subject: Option<&str>) -> anyhow::Result<Fields> {
        let source = TextArg {
            file: self.file.clone(),
        };
        let description = source.read(self.description.as_deref())?;
        let subject = subject.map(one_line).transpose()?;
        let day = |wanted: Option<Clearable<Day>>| {
            wanted.map(|wanted| wanted.0.map(|day| day.date(context)))
        };
        Ok(Fields {
            subject,
            description,
            active_form: None,
            priority: self.priority.map(|wanted| wanted.0),
            complexity: self.complexity.clone(),
            group: self.group.clone(),
            project: self.project.clone(),
            tags: match self.tags.as_slice() {
                [] => Labels::default(),
                tags => Labels::Set(tags.to_vec()),
            },
            due: day(self.due),
            not_before: match day(self.not_before) {
                Some(Some(date)) => Some(Some(morning(context, date)?)),
                Some(None) => Some(None),
                None => None,
            },
            parent: None,
            estimate: self.estimate.map(|wanted| wanted.0),
            metadata: self.metadata.clone(),
            origin: Some(context.settings.origin()),
            uid: self.uid.clone(),
        })
    }

    /// The parent that was asked for, as the list knows it.
    pub fn parent(&self, list: &List<'_>) -> anyhow::Result<Option<Option<TaskId>>> {
        Ok(match self.parent.as_deref() {
            None => None,
            Some("none" | "") => Some(None),
            Some(id) => Some(Some(list.resolve(id)?)),
        })
    }
}

fn morning(context: &Context, date: Date) -> anyhow::Result<Timestamp> {
    let zoned = date.to_zoned(context.home.zone());
    Ok(zoned.map_err(|error| usage(error.to_string()))?.timestamp())
}

/// Labels that an edit adds and takes away.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct LabelArgs {
    /// One more label; may be repeated
    #[arg(long, value_name = "TAG", conflicts_with = "tags")]
    add_tag: Vec<String>,
    /// A label to take away; may be repeated
    #[arg(long, value_name = "TAG", conflicts_with = "tags")]
    remove_tag: Vec<String>,
}

impl LabelArgs {
    /// The change of labels, where one is asked for.
    pub fn change(&self) -> Option<Labels> {
        let asked = !self.add_tag.is_empty() || !self.remove_tag.is_empty();
        asked.then(|| Labels::Change {
            add: self.add_tag.clone(),
            remove: self.remove_tag.clone(),
        })
    }
}

/// What is said about tasks whose fields were just set: of a long text its length, so that a
/// mangled one is noticed at once.
pub fn changes_text(done: &str, tasks: &[Task], fields: &Fields) -> String {
    let echo = fields
        .description
        .as_ref()
        .map(|text| format!(" (description: {} bytes)", text.len()))
        .unwrap_or_default();
    let each = tasks
        .iter()
        .map(|task| format!("{done} {} {}{echo}\n", task.id, title(&task.subject)));
    each.collect()
}
