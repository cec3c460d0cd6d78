//! `answer`: the operator's answer to what is asked.

use flagpost_core::{
    answers::AnsweredAnswer,
    messages::{self, Party, Reply},
    questions::{self, Answered},
};
use flagpost_model::decision::Via;

use crate::{
    context::Context,
    error::usage,
    output::Answer,
    terminal::{line, title},
    text::TextArg,
};

/// Answer the question of a task or a worker
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost answer 2 'argparse: it is there already'\n\
    flagpost answer W1/outbox/3 --file answer.md\n\n\
    'flagpost status' shows what is asked. A task over which somebody was stuck is pending again, and \
    the run that is under way, else the next, goes on with it: whoever does it reads question and \
    answer. A worker that asks and keeps its task gets a REPLY; nobody has to ratify it."
)]
pub struct AnswerArgs {
    /// The task, or the worker's message that asks, as in W1/outbox/3
    id: String,
    /// The answer; - reads stdin
    text: Vec<String>,
    #[command(flatten)]
    source: TextArg,
    /// Add to an answer that was given before
    #[arg(long)]
    again: bool,
}

/// Answers it.
pub fn run(context: &Context, args: &AnswerArgs) -> anyhow::Result<Answer> {
    let speaker = context.speaker()?;
    let typed = (!args.text.is_empty()).then(|| args.text.join(" "));
    let Some(text) = args.source.read(typed.as_deref())? else {
        return Err(usage("say the answer, as in answer 2 'The first one'"));
    };
    let reply = Reply {
        text: &text,
        again: args.again,
        via: Via::Cli,
    };
    let answered = match args.id.contains('/') {
        true => {
            let fleet = context.fleet()?;
            let party = Party {
                fleet: &fleet,
                speaker: &speaker,
            };
            let place = messages::find(&party, &args.id)?;
            questions::answer_worker(&party, &place, &reply)?
        }
        false => {
            let list = context.list_to_change()?;
            let id = list.resolve(&args.id)?;
            let here = context.repository()?;
            questions::answer(&list, here.as_ref(), &speaker, &id, &reply)?
        }
    };
    let bytes = text.len();
    let said = match &answered {
        Answered::Task(it) => {
            let (id, subject) = (&it.task.id, title(&it.task.subject));
            let now = match it.reopened {
                true => "it is pending again".to_owned(),
                false => format!(
                    "added to question {}; it is {}",
                    it.question.n,
                    it.task.state.name()
                ),
            };
            format!("answered {id} {subject} ({bytes} bytes): {now}\n")
        }
        Answered::Worker { question, sent } => {
            let about = question.task().map(|id| format!(" about {}", line(&id)));
            format!(
                "answered {}{} ({bytes} bytes): {} lies in {}\n",
                line(&question.from),
                about.unwrap_or_default(),
                sent.message.title(),
                sent.message.place,
            )
        }
    };
    let id = match &answered {
        Answered::Task(it) => it.task.id.to_string(),
        Answered::Worker { sent, .. } => sent.message.place.to_string(),
    };
    Ok(Answer::of(&AnsweredAnswer::from(&answered))
        .text(said)
        .ids([id]))
}
