//! A slash command, carried out.

use flagpost_disk::fsx;
use flagpost_model::{
    WorkerId,
    envelope::Hash,
    slash::{Slash, TextSource, parse},
};
use serde_json::{Value, json};

use super::{
    Arguments, Caller,
    CallerPart::{Actor, Repo},
    Operation, OperationEntry, Parameter, Run,
    mail::SEEN,
};
use crate::{
    answers::SlashAnswer,
    error::{Error, Result},
    relay::Fleet,
    repository::Repository,
    slash::{SlashContext, SlashOutput, carry_out_aloud, operation},
};

const COMMAND: Parameter =
    Parameter::text("command", "As in /ratify all --scope=W{1,2}.").required();
const TEXT: Parameter = Parameter::text(
    "text",
    "What goes beside it: the brief of /assign, the new body of /edit.",
);

pub(super) const ENTRIES: &[OperationEntry] = &[OperationEntry::new(
    Operation::SlashDispatch,
    "Carries out a slash command",
    Run::Answer("slash", dispatch),
)
.asking(&[Repo, Actor])
.taking(&[COMMAND, TEXT, SEEN])];

fn dispatch(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let said = SlashRequest::read(caller, arguments)?.carry_out(caller, &mut |_| {})?;
    Ok(json!(SlashAnswer {
        command: arguments.needed(COMMAND.name).trim(),
        output: &said,
    }))
}

/// A command that its caller may carry out.
#[derive(Debug)]
pub struct SlashRequest {
    repository: Repository,
    command: Slash,
    actor: WorkerId,
    given: Option<String>,
    seen: Option<Hash>,
}

impl SlashRequest {
    /// Reads it, and refuses what the caller may not do.
    pub fn read(caller: &Caller, arguments: &Arguments) -> Result<Self> {
        let command = parse(arguments.needed(COMMAND.name)).map_err(|error| Error::Invalid {
            what: COMMAND.name.to_owned(),
            reason: error.to_string(),
        })?;
        let repository = caller.repository()?;
        caller.permit(operation(&command))?;
        if let Slash::Assign {
            text: TextSource::File(name),
            ..
        } = &command
        {
            // Whoever asks stands nowhere: a file is one of the repository.
            let file = repository.top.join(name);
            fsx::within(caller.home().fs(), &repository.top, &file)?;
        }
        Ok(Self {
            repository,
            command,
            actor: caller.actor()?,
            given: arguments.owned(TEXT.name),
            seen: arguments.parsed(SEEN.name)?,
        })
    }

    /// Carries it out, and tells each line of a decision as soon as that is made.
    pub fn carry_out(self, caller: &Caller, tell: &mut dyn FnMut(&str)) -> Result<SlashOutput> {
        let at = SlashContext {
            fleet: &Fleet::of(caller.home(), &self.repository.id),
            actor: &self.actor,
            via: caller.via(),
            origin: caller.origin(),
            seen: self.seen.as_ref(),
            dir: &self.repository.top,
        };
        carry_out_aloud(&at, self.command, self.given, tell)
    }
}
