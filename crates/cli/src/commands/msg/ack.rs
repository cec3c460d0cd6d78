//! `msg ack`: the recipient has a message.

use flagpost_core::{
    messages::{self, Party},
    operations::Operation,
};

use crate::{commands::kept, context::Context, output::Answer};

/// Say that you have a message: it is not given out again
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost msg ack 7 --as W1\n\
    flagpost msg ack W1/outbox/3 --as orchestrator")]
pub struct MsgAckArgs {
    /// Its place, its id or the beginning of one; for a worker its number in the inbox
    message: String,
}

/// Acknowledges.
pub fn run(context: &Context, args: &MsgAckArgs) -> anyhow::Result<Answer> {
    let (fleet, speaker) = (context.fleet()?, context.speaker()?);
    let party = Party {
        fleet: &fleet,
        speaker: &speaker,
    };
    let place = messages::find(&party, &args.message)?;
    let acked = match messages::ack(&party, &place) {
        Ok(acked) => acked,
        Err(error) => {
            let said = kept::said([
                ("worker", place.worker.as_str().into()),
                ("direction", place.direction.as_str().into()),
                ("seq", place.seq.get().into()),
            ]);
            return Ok(kept::instead(
                context,
                error,
                Operation::MessageAck,
                &[said],
            )?);
        }
    };
    let before = if acked.already { " before" } else { "" };
    let who = &speaker.name;
    Ok(Answer::of(&acked)
        .text(format!("{who} has {}{before}", super::head(&acked.message)))
        .ids([place]))
}
