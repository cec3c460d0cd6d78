//! `msg send`: say something to a worker, or to the orchestrator.

use flagpost_core::{
    messages::{self, NewMessage, Party},
    operations::Operation,
    relay::decide::Gate,
};
use flagpost_model::{WorkerId, decision::Via, envelope::Direction, message::Subject};
use serde_json::json;

use super::words::WordsArgs;
use crate::{
    commands::{kept, query::named, relay},
    context::Context,
    output::Answer,
};

/// Send a message
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost msg send --subject DONE --task b1 'Parser written' --as W1\n\
    flagpost msg send --to W1 --subject TASK --task b1 --thread epic-1 'Write it'\n\
    flagpost msg send --to W1 --subject REPLY --re W1/outbox/3 'The first one'\n\n\
    What goes to a worker waits for the policy or the operator, as every brief does. A REPLY that a \
    person types is decided by that."
)]
pub struct MsgSendArgs {
    /// TASK, DONE, STUCK, PROGRESS, QUERY or REPLY
    #[arg(long, short, value_name = "WORD", value_parser = subject)]
    subject: Subject,
    /// To whom [default: whoever it answers, else the orchestrator]
    #[arg(long, value_name = "ID")]
    to: Option<String>,
    /// The conversation [default: that of what it answers]
    #[arg(long, short, value_name = "ID")]
    thread: Option<String>,
    /// The message that it answers, as in W1/outbox/3 [default: the TASK it is about]
    #[arg(long = "re", value_name = "MESSAGE")]
    re: Option<String>,
    #[command(flatten)]
    words: WordsArgs,
    /// Let it through at once; an agent may not
    #[arg(long)]
    pub ratify: bool,
}

/// A subject in whatever case.
fn subject(text: &str) -> Result<Subject, String> {
    Subject::named(text).map_or_else(|| named(text), Ok)
}

/// Sends it.
pub fn run(context: &Context, args: &MsgSendArgs) -> anyhow::Result<Answer> {
    let gate = match args.ratify {
        true => Gate::Writer(Via::Cli),
        false => Gate::of_words(args.subject, context.settings.origin(), Via::Cli),
    };
    let to: Option<WorkerId> = args.to.as_deref().map(str::parse).transpose()?;
    let (fleet, speaker) = (context.fleet()?, context.speaker()?);
    let party = Party {
        fleet: &fleet,
        speaker: &speaker,
    };
    let answers = args.re.as_deref().map(|it| messages::find(&party, it));
    let words = NewMessage {
        subject: args.subject,
        answers: answers.transpose()?,
        body: args.words.read(args.subject)?,
        to,
        thread: args.thread.clone(),
        id: None,
    };
    let said = kept::said([
        ("subject", words.subject.to_string().into()),
        ("body", words.body.as_str().into()),
        ("to", json!(words.to)),
        ("thread", json!(words.thread)),
        ("re", json!(words.answers.as_ref().map(ToString::to_string))),
    ]);
    let sent = match messages::send(&party, words, gate) {
        Ok(sent) => sent,
        Err(error) => {
            return Ok(kept::instead(
                context,
                error,
                Operation::MessageSend,
                &[said],
            )?);
        }
    };
    let message = &sent.message;
    if message.place.direction == Direction::Inbox {
        relay::wrote(context, &message.place.worker, message.place.seq);
    }
    let mut text = format!(
        "sent {} ({} bytes)\n",
        super::head(message),
        message.body.len()
    );
    if let Some(rule) = sent.verdict.as_ref().and_then(|it| it.rule.as_ref()) {
        text += &format!("ratified by the policy: {rule}\n");
    }
    let replay = sent
        .replay
        .then(|| "it was said before: nothing was added".to_owned());
    let files = &sent.files;
    let refused = files.refused.iter().map(ToString::to_string);
    let unreserved = files.faults.iter().map(|it| format!("not reserved: {it}"));
    let fault = sent.policy_fault.as_ref();
    let fault = fault.map(|it| format!("the policy was not asked: {it}"));
    Ok(Answer::of(&sent).text(text).ids([&message.place]).notes(
        replay
            .into_iter()
            .chain(fault)
            .chain(refused)
            .chain(unreserved),
    ))
}
