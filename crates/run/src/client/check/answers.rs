//! What a client answers, and what that means.
//!
//! Owns the questions, side by side and each with its own patience, and which answer is a fault. A
//! client that does not answer, or not in the way of clients, has no fault: a wrapper of the
//! operator's may know better.

use std::{ffi::OsString, io, thread, time::Duration};

use super::{CheckTarget, Checked, fault::ClientFault, help, scratch::Scratch, trust};
use crate::{
    ask::{self, ProgramCall, ProgramInput, ProgramOutput},
    client::{Client, inject::TrustedHook, preset},
};

/// How long a client may take to answer. The slowest takes 18 s when it is started for the first time.
const PATIENCE: Duration = Duration::from_secs(30);

/// What exit codes a system's own refusal to start something has: it cannot be executed, or there is
/// no such program.
const CANNOT_START: [i32; 2] = [126, 127];

/// What a client answered, as far as it does not change while the client stays the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Answers {
    pub version: Option<String>,
    pub faults: Vec<ClientFault>,
    pub notes: Vec<String>,
    /// The hooks of ours that it is told to trust.
    pub trusted: Vec<TrustedHook>,
    /// Whether it answered all that it was asked.
    pub is_whole: bool,
}

impl Answers {
    /// Those of a client that nothing was heard of, and why.
    pub(super) fn lost(note: String) -> Self {
        Self {
            notes: vec![note],
            ..Self::default()
        }
    }

    pub(super) fn into_checked(self, subject: &CheckTarget) -> Checked {
        Checked {
            name: subject.name.clone(),
            client: subject.client,
            program: subject.program.clone(),
            version: self.version,
            faults: self.faults,
            notes: self.notes,
            trusted: self.trusted,
        }
    }
}

/// Asks a client everything.
pub(super) fn ask_all(subject: &CheckTarget) -> Answers {
    ask_patiently(subject, PATIENCE)
}

/// The same with another patience.
pub(super) fn ask_patiently(subject: &CheckTarget, patience: Duration) -> Answers {
    let scratch = match Scratch::new() {
        Ok(scratch) => scratch,
        Err(error) => return Answers::lost(format!("it could not be asked anything: {error}")),
    };
    let lines = subject.lines();
    let mut questions = vec![vec![OsString::from("--version")]];
    for line in &lines {
        let question = question_of(subject.client, line);
        if !questions.contains(&question) {
            questions.push(question);
        }
    }
    let set = scratch.variables(subject);
    let ask = |args: &Vec<OsString>| {
        ask::ask(ProgramCall {
            program: &subject.program,
            args,
            set: &set,
            unset: &[],
            stdin: ProgramInput::Nothing,
            dir: &scratch.0,
            patience,
        })
    };
    let (answered, trusted) = thread::scope(|scope| {
        let trusted = scope.spawn(|| trust::hooks(subject, &scratch, patience));
        let asked: Vec<_> = questions
            .iter()
            .map(|args| scope.spawn(|| ask(args)))
            .collect();
        let lost = |_| Err(io::ErrorKind::Other.into());
        let joined = asked
            .into_iter()
            .map(|asked| asked.join().unwrap_or_else(lost));
        let joined: Vec<io::Result<ProgramOutput>> = joined.collect();
        (joined, trusted.join().unwrap_or_default())
    });
    let mut answers = judge(subject, &lines, &questions, &answered);
    match trusted {
        Some(trusted) => answers.trusted = trusted,
        None if answers.faults.is_empty() => answers.note(trust::LACKING.to_owned()),
        None => {}
    }
    answers
}

/// What makes a client print its help. Codex looks at everything in front of `--help` first, so it is
/// given the whole line, and its word is final; the others print it whatever stands there.
fn question_of(client: Client, line: &[OsString]) -> Vec<OsString> {
    match client {
        Client::Codex => help::with_help(line),
        _ => help::with_help(help::verb_of(line)),
    }
}

/// What the answers mean.
fn judge(
    subject: &CheckTarget,
    lines: &[Vec<OsString>],
    questions: &[Vec<OsString>],
    answered: &[io::Result<ProgramOutput>],
) -> Answers {
    let mut answers = Answers {
        is_whole: true,
        ..Answers::default()
    };
    for (question, answer) in questions.iter().zip(answered) {
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                answers.fault(ClientFault::Dead {
                    why: error.to_string(),
                });
                continue;
            }
        };
        if answer.code.is_some_and(|code| CANNOT_START.contains(&code)) {
            answers.fault(ClientFault::Dead {
                why: last_line(&answer.text),
            });
        } else if answer.is_late {
            answers.is_whole = false;
            answers.note(format!(
                "it gave no answer to '{}' in time",
                spelled(subject, question)
            ));
        } else if question.iter().eq(["--version"]) {
            answers.version = help::version_in(&answer.text).map(str::to_owned);
        } else {
            for (n, line) in lines.iter().enumerate() {
                if question_of(subject.client, line) == *question {
                    let heard = hear_help(subject, question, line, answer);
                    answers.take(heard, n == 0);
                }
            }
        }
    }
    if answers.version.is_none() && answers.faults.is_empty() {
        answers.note("it tells no version".to_owned());
    }
    answers
}

/// What a help tells of a command line.
fn hear_help(
    subject: &CheckTarget,
    question: &[OsString],
    line: &[OsString],
    answer: &ProgramOutput,
) -> Answers {
    let mut heard = Answers::default();
    if subject.client == Client::Codex {
        match (answer.code, error_line(&answer.text)) {
            (Some(0), _) => return heard,
            (Some(2), Some(said)) => {
                heard.fault(refusal(subject, said));
                return heard;
            }
            _ => {}
        }
    }
    let Some(known) = help::options_in(&answer.text) else {
        heard.note(format!(
            "'{}' lists no options, so those of its command line were not looked at",
            spelled(subject, question)
        ));
        return heard;
    };
    let options = help::options_of(line).into_iter();
    for option in options.filter(|option| !known.contains(option)) {
        // Clients have options that their help keeps quiet about. Ours are none of those.
        match subject.is_added(&option) {
            true => heard.note(format!(
                "its help does not name {option}, which is in run.agents.{}.args",
                subject.name
            )),
            false => heard.fault(ClientFault::Unknown {
                options: vec![option],
                added: false,
            }),
        }
    }
    heard
}

/// What a client says that does not take its line.
fn refusal(subject: &CheckTarget, said: &str) -> ClientFault {
    match help::refused_option(said) {
        Some(option) => ClientFault::Unknown {
            added: subject.is_added(option),
            options: vec![option.to_owned()],
        },
        None => ClientFault::Refused {
            said: said.to_owned(),
        },
    }
}

impl Answers {
    /// Adds what was heard. Who cannot go on with what ended begins anew, which is no fault.
    fn take(&mut self, heard: Self, is_beginning: bool) {
        heard.notes.into_iter().for_each(|note| self.note(note));
        for fault in heard.faults {
            match fault {
                fault if is_beginning => self.fault(fault),
                _ if !self.faults.is_empty() => {}
                ClientFault::Unknown { options, .. } => self.note(format!(
                    "to go on with a conversation it does not know {}, so what is to be gone on \
                     with begins anew",
                    options.join(", ")
                )),
                ClientFault::Refused { said } | ClientFault::Dead { why: said } => {
                    self.note(format!(
                        "it refuses to go on with a conversation ({said}), so that begins anew"
                    ))
                }
            }
        }
    }

    fn fault(&mut self, fault: ClientFault) {
        if self.faults.contains(&fault) {
            return;
        }
        match (self.faults.last_mut(), fault) {
            (
                Some(ClientFault::Unknown { options, added }),
                ClientFault::Unknown {
                    options: more,
                    added: too,
                },
            ) if *added == too => {
                options.extend(more);
            }
            (_, fault) => self.faults.push(fault),
        }
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// A question as a person would type it.
fn spelled(subject: &CheckTarget, question: &[OsString]) -> String {
    let verb = help::verb_of(question).iter();
    let words = verb.map(|word| word.to_string_lossy().into_owned());
    let last = question.last().map(|it| it.to_string_lossy().into_owned());
    let program = preset::program(subject.client).to_owned();
    let all: Vec<String> = [program].into_iter().chain(words).chain(last).collect();
    all.join(" ")
}

/// What a client says is wrong.
fn error_line(text: &str) -> Option<&str> {
    text.lines()
        .find_map(|line| line.trim().strip_prefix("error: "))
}

/// The end of what somebody printed.
pub(super) fn last_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let last = lines.next_back().unwrap_or("it says nothing");
    last.chars().take(200).collect()
}
