//! What is known of an operation, as data.
//!
//! Owns an operation's description, which each face reads, and the one way to carry it out.

use std::slice;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{Access, Arguments, Caller, CallerPart, Operation, Parameter, keep};
use crate::{
    answers::{self, KeptAnswer, Published},
    error::Result,
};

/// An operation that takes plain values and answers with plain values.
#[derive(Debug, Clone, Copy)]
pub struct OperationEntry {
    /// Which it is: its name, and who may ask for it. Its work asks again where that depends on words.
    pub operation: Operation,
    /// What it does, in a line.
    pub about: &'static str,
    /// What it does to what there is.
    pub effect: OperationEffect,
    /// What it asks of its caller.
    pub asks: &'static [CallerPart],
    /// What may be said with it.
    pub parameters: &'static [Parameter],
    /// What it does, and what it answers with.
    pub run: Run,
}

/// What an operation does to what there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OperationEffect {
    /// It changes nothing.
    Reads,
    /// It changes something, and again when it is asked again.
    Changes,
    /// It changes something, and nothing more when it is asked again.
    Idempotent,
    /// It ends something.
    Ends,
}

/// What an operation does.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// Answers: `task` is `flagpost.task/1`.
    Answer(&'static str, fn(&Caller, &Arguments) -> Result<Value>),
    /// Answers in the first shape where there is something; where there is nothing yet, whoever waits
    /// long enough is answered in the second.
    Awaited(
        [&'static str; 2],
        fn(&Caller, &Arguments) -> Result<Option<Value>>,
    ),
}

/// What came of it.
#[derive(Debug)]
pub enum EntryOutcome {
    /// The whole answer.
    Answer(Value),
    /// Nothing is there yet; whoever waits no longer is told so in this shape.
    Nothing(&'static str),
    /// It is kept until the fleet of machines can be reached; the whole answer.
    Kept(Value),
}

impl OperationEntry {
    /// An operation that asks nothing of its caller and takes nothing: it changes something, unless
    /// everybody may ask for it.
    pub(super) const fn new(operation: Operation, about: &'static str, run: Run) -> Self {
        let effect = match operation.access() {
            Access::Read => OperationEffect::Reads,
            Access::Agent | Access::Controller(_) | Access::Operator(_) => OperationEffect::Changes,
        };
        Self {
            operation,
            about,
            effect,
            asks: &[],
            parameters: &[],
            run,
        }
    }

    /// The same, with another effect.
    pub(super) const fn having(self, effect: OperationEffect) -> Self {
        Self { effect, ..self }
    }

    /// The same, which asks this of its caller.
    pub(super) const fn asking(self, asks: &'static [CallerPart]) -> Self {
        Self { asks, ..self }
    }

    /// The same, with which this may be said.
    pub(super) const fn taking(self, parameters: &'static [Parameter]) -> Self {
        Self { parameters, ..self }
    }

    /// What it is called everywhere.
    pub fn name(&self) -> &'static str {
        self.operation.name()
    }

    /// The shapes that it answers in.
    pub fn answers(&self) -> Vec<&'static str> {
        let mut answers = match self.run {
            Run::Answer(name, _) => vec![name],
            Run::Awaited(names, _) => names.to_vec(),
        };
        if self.operation.can_be_kept() {
            answers.push(KeptAnswer::NAME);
        }
        answers
    }

    /// Carries it out for whoever may ask for it, or keeps it where nobody of the fleet can hear it.
    pub fn carry_out(&self, caller: &Caller, arguments: &Arguments) -> Result<EntryOutcome> {
        caller.admit(self.operation)?;
        self.attempt(caller, arguments).or_else(|error| {
            let said = slice::from_ref(arguments);
            let kept = keep(caller, self.operation, said, error)?;
            Ok(EntryOutcome::Kept(answers::document(&kept)))
        })
    }

    fn attempt(&self, caller: &Caller, arguments: &Arguments) -> Result<EntryOutcome> {
        let (name, body, none) = match self.run {
            Run::Answer(name, run) => (name, Some(run(caller, arguments)?), name),
            Run::Awaited([name, none], run) => (name, run(caller, arguments)?, none),
        };
        Ok(body.map_or(EntryOutcome::Nothing(none), |body| {
            EntryOutcome::Answer(answers::with_schema(name, body))
        }))
    }
}
