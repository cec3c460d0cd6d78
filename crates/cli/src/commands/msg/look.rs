//! `msg list`, `thread`, `unacked`, `show`: what was said, and what is open.

use flagpost_core::{
    Error,
    answers::{MessagesPage, OpenMessagesPage},
    messages::{self, Filter, MessageView, Party},
};
use flagpost_model::message::{NextStep, Subject};

use crate::{
    commands::{
        list::{LIMIT, more, unseen},
        query::named,
        run::sessions,
    },
    context::Context,
    error::Unknown,
    output::Answer,
    screen::Screen,
    shape,
    terminal::line,
};

/// List messages in their order, the archive included
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost msg list --thread epic-1 --subject DONE")]
pub struct MsgListArgs {
    /// Only of this conversation
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// Only with this subject
    #[arg(long, value_name = "WORD", value_parser = named::<Subject>)]
    subject: Option<Subject>,
    /// Only from this one
    #[arg(long, value_name = "ID")]
    from: Option<String>,
    /// Only to this one
    #[arg(long, value_name = "ID")]
    to: Option<String>,
    /// At most this many, the newest; 0 for all
    #[arg(long, value_name = "N", default_value_t = LIMIT)]
    limit: usize,
}

/// Show a conversation in its order, the archive included
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost msg thread epic-1")]
pub struct ThreadArgs {
    /// The conversation; for a run, its session
    thread: String,
}

/// Show what is open, and what is to be done about each
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost msg unacked --to W1\n\n\
    Open is what nobody has acknowledged, and a task that was and never ended.\n\
    NEXT says what is to be done: decide (approve it, or not), offer (the worker has to receive\n\
    it, perhaps again), await (somebody has it in hand), reassign (its worker acknowledged the task\n\
    and fell silent), process (the orchestrator has to deal with it).")]
pub struct UnackedArgs {
    /// Only to this one
    #[arg(long, value_name = "ID")]
    to: Option<String>,
}

/// Show a message, or a field of it; acknowledges nothing
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost msg show 7 --field prompt --as W1")]
pub struct MsgShowArgs {
    /// Its place, its id or the beginning of one; for a worker its number in the inbox
    message: String,
    /// This field of the body, bare: prompt, summary, reason
    #[arg(long, value_name = "NAME")]
    field: Option<String>,
    /// In one line
    #[arg(long, conflicts_with = "field")]
    line: bool,
}

/// Lists.
pub fn list(context: &Context, args: &MsgListArgs) -> anyhow::Result<Answer> {
    let mut survey = messages::all(&context.fleet()?)?;
    let filter = Filter {
        thread: args.thread.clone(),
        subject: args.subject,
        from: args.from.clone(),
        to: args.to.clone(),
    };
    let total = survey.select(&filter, args.limit);
    Ok(table(context, &survey, total))
}

/// Shows a conversation.
pub fn thread(context: &Context, args: &ThreadArgs) -> anyhow::Result<Answer> {
    let fleet = context.fleet()?;
    let survey = match messages::thread(&fleet, &args.thread) {
        // The files of a killed run have another name than it had.
        Err(unknown @ Error::NotFound { .. }) => match sessions(context)?.find(&args.thread) {
            Ok(session) => match session.thread() {
                Some(thread) => messages::thread(&fleet, thread)?,
                None => return Err(unknown.into()),
            },
            Err(_) => return Err(unknown.into()),
        },
        survey => survey?,
    };
    Ok(table(context, &survey, survey.messages.len()))
}

/// Shows what is open.
pub fn unacked(context: &Context, args: &UnackedArgs) -> anyhow::Result<Answer> {
    let (mut open, skipped) = messages::unacked(&context.fleet()?)?;
    open.retain(|it| args.to.as_ref().is_none_or(|to| it.seen.message.to == *to));
    let screen = Screen::of(context);
    let rows = open.iter().map(|it| row(screen, &it.seen, Some(it.next)));
    let text = match open.is_empty() {
        true => "nothing is open".to_owned(),
        false => {
            let header = ["MESSAGE", "SUBJECT", "FROM", "TO", "STATE", "NEXT", "SAYS"];
            screen.table(&header, rows.collect())
        }
    };
    let page = OpenMessagesPage::new(open.iter().collect(), open.len(), &skipped);
    Ok(Answer::of(&page)
        .text(text)
        .ids(open.iter().map(|it| &it.seen.message.place))
        .notes(shape::skipped_notes(&skipped)))
}

/// Shows one.
pub fn show(context: &Context, args: &MsgShowArgs) -> anyhow::Result<Answer> {
    let (fleet, speaker) = (context.fleet()?, context.speaker()?);
    let party = Party {
        fleet: &fleet,
        speaker: &speaker,
    };
    let seen = messages::show(&fleet, &messages::find(&party, &args.message)?)?;
    let answer = Answer::of(&seen).ids([&seen.message.place]);
    if args.line {
        let message = &seen.message;
        let said = line(&message.line());
        return Ok(answer.text(format!(
            "{} {} {said}",
            line(message.title()),
            message.place
        )));
    }
    let Some(field) = &args.field else {
        return Ok(answer.text(seen.message.in_full()).exact(seen.message.body));
    };
    let data: serde_json::Value = serde_json::from_str(&seen.message.body).unwrap_or_default();
    let text = match data.get(field) {
        Some(serde_json::Value::String(text)) => format!("{text}\n"),
        Some(value) => format!("{value}\n"),
        None => {
            let known = data.as_object().map(|it| it.keys()).into_iter().flatten();
            return Err(Unknown::new("field", field, known).into());
        }
    };
    Ok(answer.exact(text))
}

fn table(context: &Context, survey: &messages::MessageScan, total: usize) -> Answer {
    let hidden = total - survey.messages.len();
    let screen = Screen::of(context);
    let rows = survey.messages.iter().map(|seen| row(screen, seen, None));
    let text = match survey.messages.is_empty() {
        true => "no messages".to_owned(),
        false => {
            let header = ["MESSAGE", "SUBJECT", "FROM", "TO", "STATE", "SAYS"];
            screen.table(&header, rows.collect()) + &more(hidden)
        }
    };
    let page = MessagesPage::new(survey.messages.iter().collect(), total, &survey.skipped);
    Answer::of(&page)
        .text(text)
        .ids(survey.messages.iter().map(|it| &it.message.place))
        .notes(unseen(context, hidden))
        .notes(shape::skipped_notes(&survey.skipped))
}

fn row(screen: Screen, seen: &MessageView, step: Option<NextStep>) -> Vec<String> {
    let message = &seen.message;
    let from = match &message.by {
        Some(by) => format!("{} (by {by})", message.from),
        None => message.from.clone(),
    };
    let mut row = vec![
        message.place.to_string(),
        line(message.title()),
        line(&from),
        line(&message.to),
        screen.state(seen.state.as_str()),
    ];
    row.extend(step.map(|it| it.to_string()));
    row.push(line(&message.line()));
    row
}
