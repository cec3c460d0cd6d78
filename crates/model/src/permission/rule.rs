//! Rules on what agents ask to be allowed (`operator.md` §1).
//!
//! Owns what a rule is for and which verdict follows from several. A command line is allowed where each simple command
//! of it is; it is denied, or a person is asked, where one of them is. Where it cannot be told what a tool would do, no
//! rule allows it but one for that very input, or for all inputs. Pure.

use std::fmt;

use jiff::Timestamp;

use super::{PermissionRequest, Subject, Verdict, shell::simple_commands};
use crate::{
    glob::{Glob, InvalidGlob},
    id::ListId,
    names::names,
};

names! {
    /// What a rule says.
    PermissionRuleKind {
        /// No agent may.
        Deny = "deny",
        /// A person is asked.
        Ask = "ask",
        /// The agent may.
        Allow = "allow",
    }
}

/// One rule. What it does not mention, it does not care about.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionRule {
    /// What it says.
    pub kind: PermissionRuleKind,
    /// The client's names of the tools; without one, the tools that run command lines.
    pub tool: Option<Glob>,
    /// What the tool is called with.
    pub input: RuleInput,
    /// The workers.
    pub worker: Option<Glob>,
    /// The list of the worker's task.
    pub list: Option<ListId>,
    /// From when on it does not count.
    pub until: Option<Timestamp>,
}

/// What a tool has to be called with.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleInput {
    /// Anything.
    Any,
    /// A command line whose every simple command is like this, or another input that is.
    Like(Glob),
    /// This, to the letter.
    Exactly(String),
}

/// What the rules say to a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Ruling<'r> {
    /// A person is asked, whatever else would allow it.
    Ask,
    /// It is decided.
    Decided {
        /// How.
        verdict: Verdict,
        /// The rules that say so.
        rules: Vec<&'r PermissionRule>,
    },
}

/// What the tool of a request is called with, as rules see it.
#[derive(Debug)]
pub struct RequestInput {
    /// All of it.
    whole: String,
    /// The texts that a rule has to fit: each simple command, or the one text. None where that cannot be told.
    parts: Option<Vec<String>>,
    /// Other spellings, which are denied or asked about as well.
    also: Vec<String>,
    form: InputForm,
}

/// What sort of input it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InputForm {
    /// A command line and no more.
    CommandLine,
    /// A command line with something beside it that changes what it may do.
    OddCommandLine,
    /// Anything else.
    Other,
}

/// The file that a tool works on.
#[derive(Debug)]
pub struct WorkedOn {
    /// From the top of the agent's working tree, or from the root where it lies elsewhere.
    pub file: String,
    /// From the root.
    pub real: String,
}

impl RequestInput {
    /// That of a request. `resolve` says which file a path leads to, where that can be told.
    pub fn of(request: &PermissionRequest, resolve: impl FnOnce(&str) -> Option<WorkedOn>) -> Self {
        let (whole, parts, form) = match request.subject() {
            Subject::Path(path) => return Self::of_path(path, resolve(path)),
            Subject::CommandLine(line) => {
                let commands = simple_commands(line);
                (line.to_owned(), commands, InputForm::CommandLine)
            }
            Subject::Text(text) if request.runs_commands() => {
                (text.into_owned(), None, InputForm::OddCommandLine)
            }
            Subject::Text(text) => {
                let text = text.into_owned();
                (text.clone(), Some(vec![text]), InputForm::Other)
            }
        };
        Self {
            whole,
            parts,
            also: Vec::new(),
            form,
        }
    }

    fn of_path(path: &str, found: Option<WorkedOn>) -> Self {
        let Some(WorkedOn { file, real }) = found else {
            return Self {
                whole: path.to_owned(),
                parts: None,
                also: tails(path),
                form: InputForm::Other,
            };
        };
        Self {
            parts: Some(vec![file.clone()]),
            whole: file,
            also: tails(&real),
            form: InputForm::Other,
        }
    }

    fn runs_commands(&self) -> bool {
        self.form != InputForm::Other
    }
}

/// A path from each of the directories above it: wherever an agent stands, one of them is what a rule names.
fn tails(path: &str) -> Vec<String> {
    let starts = path
        .match_indices('/')
        .map(|(at, _)| path[at + 1..].to_owned());
    starts.chain([path.to_owned()]).collect()
}

impl RuleInput {
    /// Commands like this. An error says why no command could be.
    pub fn commands(pattern: &str) -> Result<Glob, String> {
        let glob: Glob = pattern
            .parse()
            .map_err(|error: InvalidGlob| error.to_string())?;
        let never = ["&&", "||", ";", "|", ">", "<", "$", "`", "\n", "  "];
        let is_one = pattern.trim() == pattern && !never.iter().any(|it| pattern.contains(it));
        match is_one {
            true => Ok(glob),
            false => Err(format!(
                "no command is like {pattern:?}: a pattern is for one command, with one space between its words"
            )),
        }
    }
}

impl PermissionRule {
    /// One that allows the command lines whose every simple command is like this.
    pub fn allowing(commands: Glob) -> Self {
        Self {
            kind: PermissionRuleKind::Allow,
            tool: None,
            input: RuleInput::Like(commands),
            worker: None,
            list: None,
            until: None,
        }
    }

    /// The rule that would allow such a request from now on, to any worker: a simple command wherever it stands,
    /// anything else to the letter.
    pub fn always(request: &PermissionRequest, input: &RequestInput) -> Self {
        let literal = |text: &str| {
            let glob: Option<Glob> = globset::escape(text).parse().ok();
            // A pattern knows a sign more than is made harmless there.
            glob.filter(|it| it.takes(text))
        };
        let simple = match input.parts.as_deref() {
            Some([one]) if input.runs_commands() => literal(one),
            _ => None,
        };
        let exactly = || RuleInput::Exactly(input.whole.clone());
        Self {
            kind: PermissionRuleKind::Allow,
            tool: literal(&request.tool).filter(|_| !input.runs_commands()),
            input: simple.map_or_else(exactly, RuleInput::Like),
            worker: None,
            list: None,
            until: None,
        }
    }

    /// Whether it is for requests like this one, whatever their input.
    fn concerns(&self, request: &PermissionRequest, input: &RequestInput, now: Timestamp) -> bool {
        let list = request.list.as_ref().and_then(|it| it.name());
        let worker = request.worker.as_str();
        self.until.is_none_or(|until| now < until)
            && self.worker.as_ref().is_none_or(|it| it.takes(worker))
            && self.list.as_ref().is_none_or(|it| Some(it) == list)
            && match &self.tool {
                Some(tool) => tool.takes(&request.tool),
                None => input.runs_commands(),
            }
    }

    /// Whether it fits the whole input, whatever that consists of.
    fn fits_whole(&self, input: &RequestInput) -> bool {
        match &self.input {
            RuleInput::Any => true,
            RuleInput::Exactly(text) => *text == input.whole,
            RuleInput::Like(_) => false,
        }
    }

    fn fits_part(&self, part: &str) -> bool {
        matches!(&self.input, RuleInput::Like(glob) if glob.takes(part))
    }

    /// Whether it fits some of it, which is enough to deny it or to ask.
    fn fits_some(&self, input: &RequestInput) -> bool {
        let mut texts = input.parts.iter().flatten().chain(&input.also);
        self.fits_whole(input)
            || self.fits_part(&input.whole)
            || texts.any(|part| self.fits_part(part))
    }

    /// Whether it allows all of it, whatever that consists of.
    fn allows_whole(&self, input: &RequestInput) -> bool {
        let is_any = self.input == RuleInput::Any;
        self.fits_whole(input) && !(is_any && input.form == InputForm::OddCommandLine)
    }
}

impl fmt::Display for PermissionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = self.tool.as_ref().map(ToString::to_string);
        let input = match &self.input {
            RuleInput::Any => None,
            RuleInput::Like(glob) => Some(glob.to_string()),
            RuleInput::Exactly(text) => Some(text.clone()),
        };
        let words: Vec<String> = tool.into_iter().chain(input).collect();
        f.write_str(&words.join(": "))
    }
}

/// What the rules say to a request: what denies comes first, then what asks, then what allows. None where no rule
/// says anything.
pub fn consult<'r>(
    rules: &[&'r PermissionRule],
    request: &PermissionRequest,
    input: &RequestInput,
    now: Timestamp,
) -> Option<Ruling<'r>> {
    let concerned = rules.iter().filter(|it| it.concerns(request, input, now));
    let concerned: Vec<&'r PermissionRule> = concerned.copied().collect();
    let of = |kind| concerned.iter().copied().filter(move |it| it.kind == kind);
    let decided = |verdict, rules| Some(Ruling::Decided { verdict, rules });
    if let Some(rule) = of(PermissionRuleKind::Deny).find(|it| it.fits_some(input)) {
        return decided(Verdict::Denied, vec![rule]);
    }
    if of(PermissionRuleKind::Ask).any(|it| it.fits_some(input)) {
        return Some(Ruling::Ask);
    }
    let exactly = |it: &&PermissionRule| matches!(it.input, RuleInput::Exactly(_));
    let mut whole = of(PermissionRuleKind::Allow).filter(|it| it.allows_whole(input));
    // Nobody can tell whether what cannot be read is what another rule denies.
    let is_unsure = input.parts.is_none()
        && concerned
            .iter()
            .any(|it| it.kind != PermissionRuleKind::Allow);
    let found = match is_unsure {
        true => whole.find(exactly),
        false => whole.next(),
    };
    if let Some(rule) = found {
        return decided(Verdict::Allowed, vec![rule]);
    }
    let parts = input.parts.as_ref()?.iter();
    let allowing = |part: &String| of(PermissionRuleKind::Allow).find(|it| it.fits_part(part));
    let each: Option<Vec<&'r PermissionRule>> = parts.map(allowing).collect();
    decided(Verdict::Allowed, each?)
}

#[cfg(test)]
mod tests;
