//! The palette: every operation, slash command and screen by a few letters.
//!
//! Owns what is offered for what is typed, best first, and what a line asks for. The operations are those
//! of `core::operations`, read from its table; slash commands are read by `core` when they are carried out.

use flagpost_core::operations::{self, Access, Operation, OperationEntry, ParamKind, Presence};
use flagpost_model::slash::{Slash, parse};
use serde_json::{Map, Value};

use crate::{
    act::Request,
    app::App,
    snapshot::{WaitingBrief, WaitingItem},
    tab::Tab,
};

/// Something that can be typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What is put into the line.
    pub line: String,
    /// What it does.
    pub about: String,
    /// Whether more must be said behind it.
    pub wants_more: bool,
}

/// What a line asks for.
#[derive(Debug, Clone)]
pub enum Chosen {
    /// A screen.
    Go(Tab),
    /// An operation.
    Carry(Request),
    /// To let these through, after a question.
    RatifyAll(Vec<WaitingBrief>),
}

/// The slash commands, with what follows each.
const SLASH: [(&str, &str, bool); 11] = [
    ("/ratify all", "approve everything that waits", false),
    ("/ratify", "W: approve a worker's newest brief", true),
    ("/reject", "W [SEQ]: reject a brief", true),
    ("/assign", "TICKET W: give a ticket to a worker", true),
    (
        "/redirect",
        "W TEXT: tell a worker to do something else",
        true,
    ),
    ("/merge", "PR: have a pull request merged", true),
    ("/inbox", "[W]: what waits", false),
    ("/outbox", "[W]: what workers report", false),
    ("/search", "TEXT: search everything", true),
    ("/relay-gc", "archive older mail", false),
    ("/edit", "W [SEQ]: use 'e' in the inbox for that", true),
];

/// What could be meant by what is typed, best first.
pub fn choices(typed: &str) -> Vec<Choice> {
    let mut rated: Vec<(i32, Choice)> = all()
        .into_iter()
        .filter_map(|choice| likeness(typed, &choice.line).map(|it| (it, choice)))
        .collect();
    rated.sort_by_key(|(rating, choice)| (std::cmp::Reverse(*rating), choice.line.clone()));
    rated.into_iter().map(|(_, choice)| choice).collect()
}

/// How well a line fits what is typed: best where it goes on as typed, then where it is said already with
/// words behind it, then by its letters.
fn likeness(typed: &str, line: &str) -> Option<i32> {
    const WHOLE: i32 = 1_000;
    let is_said = typed
        .strip_prefix(line)
        .is_some_and(|rest| rest.starts_with(' '));
    match (line.starts_with(typed), is_said) {
        (true, _) => rating(typed, line).map(|it| it + 2 * WHOLE),
        (false, true) => Some(WHOLE),
        (false, false) if typed.starts_with('/') => rating(typed, line),
        (false, false) => rating(typed.split(' ').next()?, line),
    }
}

fn all() -> Vec<Choice> {
    let tabs = Tab::ALL.iter().map(|tab| Choice {
        line: tab.title().to_lowercase(),
        about: format!("the screen {}", tab.title()),
        wants_more: false,
    });
    let slash = SLASH.iter().map(|(line, about, wants_more)| Choice {
        line: (*line).to_owned(),
        about: (*about).to_owned(),
        wants_more: *wants_more,
    });
    let entries = operations::all().map(|entry| Choice {
        line: entry.name().to_owned(),
        about: match parameters(entry) {
            words if words.is_empty() => entry.about.to_owned(),
            words => format!("{words}: {}", entry.about),
        },
        wants_more: entry.parameters.iter().any(is_asked),
    });
    tabs.chain(slash).chain(entries).collect()
}

/// Whether the cockpit cannot say it by itself: it knows its list.
fn is_asked(parameter: &operations::Parameter) -> bool {
    parameter.presence == Presence::Required && parameter.name != "list"
}

fn parameters(entry: &OperationEntry) -> String {
    let words = entry.parameters.iter().filter(|it| it.name != "list");
    let words = words.map(|it| match it.presence {
        Presence::Required => it.name.to_uppercase(),
        Presence::Optional | Presence::In(_) => format!("[{}=]", it.name),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// How well a name fits what is typed: all letters in their order, better where they begin words or
/// follow each other. None where they are not all there.
pub fn rating(typed: &str, name: &str) -> Option<i32> {
    let (typed, name) = (typed.to_lowercase(), name.to_lowercase());
    let mut rating = if name.contains(&typed) { 20 } else { 0 };
    let mut last = None;
    let name: Vec<char> = name.chars().collect();
    let mut from = 0;
    for c in typed.chars().filter(|c| *c != ' ') {
        let at = from + name[from..].iter().position(|it| *it == c)?;
        let begins = at == 0 || matches!(name[at - 1], '.' | '-' | '/' | ' ' | '_');
        rating += match (begins, last) {
            (true, _) => 8,
            (false, Some(last)) if last + 1 == at => 5,
            _ => 1,
        };
        (last, from) = (Some(at), at + 1);
    }
    Some(rating - i32::try_from(name.len()).unwrap_or(i32::MAX) / 8)
}

/// What a line asks for; an error in words.
pub fn chosen(app: &App, line: &str) -> Result<Chosen, String> {
    let line = line.trim();
    if line.starts_with('/') {
        return slash(app, line);
    }
    let words = shlex::split(line).ok_or("a quotation mark is open")?;
    let (name, said) = words.split_first().ok_or("nothing is said")?;
    if let Some(tab) = Tab::ALL
        .iter()
        .find(|it| it.title().eq_ignore_ascii_case(name))
    {
        return Ok(Chosen::Go(*tab));
    }
    let entry = operations::all().find(|it| it.name() == name);
    let entry = entry.ok_or_else(|| {
        let best = choices(name).into_iter().next();
        match best {
            Some(best) => format!("there is no {name:?}; {} is most like it", best.line),
            None => format!("there is no {name:?}; an empty palette shows everything"),
        }
    })?;
    let arguments = arguments(app, entry, said)?;
    if entry.operation == Operation::BriefRatify && !arguments.contains_key("seen") {
        return Err("y and Y in the inbox decide on what is shown; here say seen=HASH".to_owned());
    }
    let command = arguments.get("command").and_then(Value::as_str);
    if let (Operation::SlashDispatch, Some(command)) = (entry.operation, command) {
        return slash(app, command);
    }
    Ok(Chosen::Carry(Request::new(
        entry.operation,
        Value::Object(arguments),
        line,
    )))
}

/// A slash command. A decision by one is on briefs that are known here: one that was shown, or those that are
/// listed with the question.
fn slash(app: &App, line: &str) -> Result<Chosen, String> {
    let briefs = app.data.waiting.iter().filter_map(|it| match it {
        WaitingItem::Brief(brief) => Some(brief),
        WaitingItem::Permission(_) | WaitingItem::Question(_) | WaitingItem::Other(_) => None,
    });
    let (worker, seq) = match parse(line).map_err(|error| error.to_string())? {
        Slash::RatifyAll { scope } => {
            let is_meant = |it: &&WaitingBrief| {
                let fits = scope
                    .as_ref()
                    .is_none_or(|glob| glob.takes(it.worker.as_str()));
                fits && it.withheld.is_none()
            };
            return Ok(Chosen::RatifyAll(
                briefs.filter(is_meant).cloned().collect(),
            ));
        }
        Slash::Ratify(worker, seq) | Slash::Reject(worker, seq) => (worker, seq),
        Slash::Edit(..) => return Err("e in the inbox edits the brief that is selected".to_owned()),
        _ => return Ok(Chosen::Carry(Request::slash(line, None))),
    };
    let is_it = |it: &&WaitingBrief| it.worker == worker && seq.is_none_or(|seq| it.seq == seq);
    let brief = briefs.filter(is_it).max_by_key(|it| it.seq);
    let brief = brief.ok_or_else(|| format!("no such brief of {worker} waits"))?;
    match app.has_shown(brief) {
        true => Ok(Chosen::Carry(Request::slash(line, Some(&brief.envelope)))),
        false => Err(format!(
            "the brief {worker} {} has not been on the screen to its end: select it in the inbox",
            brief.seq.get()
        )),
    }
}

/// Words behind an operation: `name=value`, or what must be said in its order.
fn arguments(
    app: &App,
    entry: &OperationEntry,
    said: &[String],
) -> Result<Map<String, Value>, String> {
    let mut arguments = Map::new();
    let has_list = entry.parameters.iter().any(|it| it.name == "list");
    if has_list {
        arguments.insert("list".to_owned(), app.data.list.as_str().into());
    }
    let mut asked = entry.parameters.iter().filter(|it| is_asked(it));
    for word in said {
        let named = word.split_once('=').and_then(|(name, value)| {
            let parameter = entry.parameters.iter().find(|it| it.name == name)?;
            Some((parameter, value))
        });
        let (parameter, text) = match named {
            Some(named) => named,
            None => {
                let next = asked.find(|it| !arguments.contains_key(it.name));
                (
                    next.ok_or_else(|| format!("{word:?} is one word too many"))?,
                    word.as_str(),
                )
            }
        };
        let value = value(parameter.kind, text).ok_or_else(|| {
            format!(
                "{} must be {}, not {text:?}",
                parameter.name, parameter.kind
            )
        })?;
        arguments.insert(parameter.name.to_owned(), value);
    }
    match entry
        .parameters
        .iter()
        .find(|it| is_asked(it) && !arguments.contains_key(it.name))
    {
        Some(missing) => Err(format!("{} is missing: {}", missing.name, missing.about)),
        None => Ok(arguments),
    }
}

/// A word as a value; a leading # of a task is only how it is shown.
fn value(kind: ParamKind, text: &str) -> Option<Value> {
    match kind {
        ParamKind::Number(_) | ParamKind::Process => text.parse::<u64>().ok().map(Value::from),
        ParamKind::Flag => text.parse::<bool>().ok().map(Value::from),
        ParamKind::Texts => Some(text.split(',').map(Value::from).collect()),
        ParamKind::Id => Some(text.strip_prefix('#').unwrap_or(text).into()),
        _ => Some(text.into()),
    }
}

/// Whether an operation changes something.
pub fn changes(request: &Request) -> bool {
    !matches!(request.operation.access(), Access::Read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_letters_find_what_is_meant() {
        for (typed, best) in [
            ("inb", "inbox"),
            ("ratify", "/ratify"),
            ("assign", "/assign"),
            ("/rat", "/ratify"),
            ("/ratify a", "/ratify all"),
            ("tdone", "task.done"),
            ("task.fail 12 no", "task.fail"),
        ] {
            assert_eq!(choices(typed)[0].line, best, "{typed}");
        }
        assert_eq!(choices("zzzz"), []);
    }

    #[test]
    fn every_operation_is_offered() {
        let all = choices("");
        for entry in operations::all() {
            assert!(
                all.iter().any(|it| it.line == entry.name()),
                "{}",
                entry.name()
            );
        }
    }
}
