//! What the machines of a fleet cannot hear now: an agent's report is kept, and told later.
//!
//! Owns the way from a verb that failed so to the operation of `core` that is kept in its place. Which may
//! be kept, that one says.

use flagpost_core::{
    Error,
    operations::{self, Arguments, Caller, CallerPlace, Identity, Operation, Parameter},
};
use flagpost_model::decision::Via;
use serde_json::{Map, Value};

use crate::{context::Context, output::Answer};

/// What is said with an operation, by name; what is null is not said.
pub fn said<const N: usize>(words: [(&str, Value); N]) -> Map<String, Value> {
    let words = words.into_iter().filter(|(_, value)| !value.is_null());
    words
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Keeps what failed with this error because nobody of the fleet can be reached: this operation, once for
/// each of these arguments. Else the error stands, or why it cannot be kept.
pub fn instead(
    context: &Context,
    error: Error,
    operation: Operation,
    said: &[Map<String, Value>],
) -> Result<Answer, Error> {
    let is_kept = matches!(&error, Error::Order(why) if why.keeps_reports().is_some());
    let Some(entry) = operations::entry(operation).filter(|_| is_kept) else {
        return Err(error);
    };
    let speaker = context.settings.speaker(context.globals.actor.as_deref())?;
    let identity = Identity::of(&speaker, context.settings.origin());
    let caller = Caller::new(&context.home, identity, Via::Cli, CallerPlace::Nowhere);
    let parameters: Vec<&'static Parameter> = entry.parameters.iter().collect();
    let said = said
        .iter()
        .map(|it| Arguments::read(&parameters, Vec::new(), it.clone()));
    let said = said.collect::<Result<Vec<_>, _>>()?;
    let kept = operations::keep(&caller, operation, &said, error)?;
    Ok(Answer::of(&kept).text(kept.note))
}
