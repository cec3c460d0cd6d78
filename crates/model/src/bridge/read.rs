//! JSON → a command.
//!
//! Owns what each payload may hold. Everything that is wrong with a command is said at once, and
//! none of it is carried out then; a name that no payload has is as wrong as a value of the wrong
//! type, since whoever wrote it meant something by it.

use jiff::{Timestamp, civil::Date};
use serde_json::{Map, Value};

use super::{
    Action, BridgeStatus, Command, CommandSource, TaskFilter, TaskPatch, Urgency, Verb,
    fields::{CommandFields, one_of, shown},
};
use crate::id::ListId;

/// The longest id, in bytes: room for every scheme there is, and none for a whole text.
const LONGEST_ID: usize = 200;

/// An item that is no command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Its id, where it has one.
    pub id: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads one item of an inbox.
pub fn read(item: &Value) -> Result<Command, Refused> {
    let Value::Object(object) = item else {
        return Err(Refused {
            id: None,
            reason: format!("a command must be an object; {}", shown_item(item)),
        });
    };
    let mut fields = CommandFields::new(object.clone(), "");
    let id = id(&mut fields);
    // Nobody reads it, so any text will do: Python's has no zone, an example only dots.
    let _sent: Option<String> = fields.text("timestamp");
    let source = fields.word("source").unwrap_or(CommandSource::Custom);
    let list = list(&mut fields);
    let verb = match fields.take("command") {
        Some(value) => {
            let verb = value.as_str().and_then(|text| text.parse().ok());
            verb.or_else(|| fields.wrong("command", &one_of::<Verb>(), &value))
        }
        None => fields.wrong("command", &one_of::<Verb>(), &Value::Null),
    };
    let payload = match fields.take("payload") {
        None | Some(Value::Null) => Some(Map::new()),
        Some(Value::Object(payload)) => Some(payload),
        Some(other) => fields.wrong("payload", "an object", &other),
    };
    let action = verb.zip(payload).and_then(|(verb, payload)| {
        let mut payload = CommandFields::new(payload, "payload.");
        let action = action(verb, &mut payload);
        payload.faults().into_iter().for_each(|it| fields.fault(it));
        action
    });
    let faults = fields.own_faults();
    match (id, action) {
        (Some(id), Some(action)) if faults.is_empty() => Ok(Command {
            id,
            source,
            list,
            action,
        }),
        (id, _) => Err(Refused {
            id,
            reason: faults.join("; "),
        }),
    }
}

fn shown_item(item: &Value) -> String {
    match item {
        Value::Null => "it is null".to_owned(),
        other => shown(other),
    }
}

fn id(fields: &mut CommandFields) -> Option<String> {
    let id = fields.needed("id")?;
    if id.len() > LONGEST_ID {
        let wanted = format!("at most {LONGEST_ID} bytes long");
        return fields.wrong("id", &wanted, &id.into());
    }
    Some(id)
}

fn list(fields: &mut CommandFields) -> Option<ListId> {
    let name = fields.text("list")?;
    match name.parse() {
        Ok(list) => Some(list),
        Err(_) => fields.wrong("list", "the name of a list", &name.into()),
    }
}

fn action(verb: Verb, payload: &mut CommandFields) -> Option<Action> {
    Some(match verb {
        Verb::Create => Action::Create(new(payload, &TaskPatch::full)?),
        Verb::CreateSubtask => {
            let parent = payload.id("parentId");
            let draft = new(payload, &TaskPatch::of_a_part);
            let (parent, draft) = (parent?, draft?);
            Action::CreateSubtask { parent, draft }
        }
        Verb::BulkCreate => Action::BulkCreate(several(payload)?),
        Verb::Update => {
            let task = payload.id("taskId");
            let title = payload.take("title").and_then(|value| match value {
                Value::String(text) => title(payload, text),
                other => payload.wrong("title", "a text that is not empty", &other),
            });
            let status = payload.word::<BridgeStatus>("status");
            let draft = TaskPatch {
                title,
                ..TaskPatch::full(payload)
            };
            let task = task?;
            if draft == TaskPatch::default() && status.is_none() && payload.is_sound() {
                payload.fault("payload names nothing that is to change".to_owned());
                return None;
            }
            Action::Update {
                task,
                draft,
                status,
            }
        }
        Verb::Complete => Action::Complete(payload.id("taskId")?),
        Verb::Uncomplete => Action::Uncomplete(payload.id("taskId")?),
        Verb::Delete => match (payload.id("taskId"), payload.flag("dryRun")) {
            (task, true) => Action::RehearseDelete(task?),
            (task, false) => Action::Delete(task?),
        },
        Verb::Query => Action::Query(TaskFilter {
            statuses: payload.words("status"),
            priorities: payload.words("priority"),
            project: payload.filter("project"),
            tag: payload.filter("tag"),
            search: payload.filter("search"),
            limit: payload.count("limit"),
        }),
        Verb::List => Action::Query(TaskFilter {
            limit: payload.count("limit"),
            ..TaskFilter::default()
        }),
        Verb::Show => Action::Show(payload.id("taskId")?),
        Verb::ListProjects => Action::ListProjects,
        Verb::ListTags => Action::ListTags,
        Verb::Stats => Action::Stats,
        Verb::AddNote => {
            let (task, content) = (payload.id("taskId"), payload.needed("content"));
            let (task, content) = (task?, content?);
            Action::AddNote { task, content }
        }
        Verb::StartTimer => Action::StartTimer(payload.id("taskId")?),
        Verb::StopTimer => Action::StopTimer(payload.id_if_any("taskId")),
    })
}

/// A task that is to be added: it needs a title.
fn new(
    fields: &mut CommandFields,
    rest: &dyn Fn(&mut CommandFields) -> TaskPatch,
) -> Option<TaskPatch> {
    let text = fields.needed("title");
    let title = text.and_then(|text| title(fields, text));
    let draft = rest(fields);
    title.map(|title| TaskPatch {
        title: Some(title),
        ..draft
    })
}

fn title(fields: &mut CommandFields, text: String) -> Option<String> {
    let wanted = match text.trim() {
        "" => "a text that is not empty",
        _ if text.contains(['\n', '\r']) => "one line",
        _ => return Some(text),
    };
    fields.wrong("title", wanted, &text.into())
}

fn several(payload: &mut CommandFields) -> Option<Vec<TaskPatch>> {
    const WANTED: &str = "a list of objects that is not empty";
    let items = match payload.take("tasks") {
        Some(Value::Array(items)) if !items.is_empty() => items,
        Some(other) => return payload.wrong("tasks", WANTED, &other),
        None => return payload.wrong("tasks", WANTED, &Value::Null),
    };
    let mut drafts = Vec::with_capacity(items.len());
    for (at, item) in items.into_iter().enumerate() {
        let Value::Object(object) = item else {
            payload.wrong::<()>(&format!("tasks[{at}]"), "an object", &item);
            continue;
        };
        let mut fields = CommandFields::new(object, format!("payload.tasks[{at}]."));
        drafts.extend(new(&mut fields, &TaskPatch::full));
        fields.faults().into_iter().for_each(|it| payload.fault(it));
    }
    Some(drafts)
}

impl TaskPatch {
    fn full(fields: &mut CommandFields) -> Self {
        Self {
            project: fields.removable("project"),
            tags: fields.texts("tags"),
            due: due(fields),
            ..Self::of_a_part(fields)
        }
    }

    fn of_a_part(fields: &mut CommandFields) -> Self {
        Self {
            description: fields.removable("description"),
            priority: fields.word::<Urgency>("priority"),
            ..Self::default()
        }
    }
}

/// A day, alone or with the time of the day that other programs of this protocol write.
fn due(fields: &mut CommandFields) -> Option<Option<Date>> {
    let value = fields.take("dueDate")?;
    let parsed = match &value {
        Value::Null => Some(None),
        Value::String(text) if text.is_empty() => Some(None),
        Value::String(text) => day(text).map(Some),
        _ => None,
    };
    let wanted = "a date that exists, as in 2026-12-01";
    parsed.or_else(|| fields.wrong("dueDate", wanted, &value))
}

fn day(text: &str) -> Option<Date> {
    let (date, is_whole) = match text.split_once('T') {
        Some((date, _)) => (date, text.parse::<Timestamp>().is_ok()),
        None => (text, true),
    };
    // jiff reads more spellings than a protocol should have.
    let day = date.parse::<Date>().ok();
    day.filter(|day| is_whole && day.to_string() == date)
}
