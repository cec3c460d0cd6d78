//! What a message has to say, by its subject.
//!
//! Owns the bodies of the seed: their names in JSON, what must be there and what is allowed. A body
//! is stored as it was given, so a field that is unknown here stays in it.

use serde::Serialize;
use serde_json::Value;

use super::{Subject, fields::BodyFields};
use crate::{envelope::summary_of, names::names};

names! {
    /// What a worker that cannot go on needs.
    Needs {
        /// A person's word.
        Guidance = "guidance",
        /// Another task has to be finished first.
        Dependency = "dependency",
        /// Nothing: the task cannot be done.
        Abort = "abort",
    }
}

/// Work for a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TaskBody {
    /// The task; `task_id` is read too. Empty where nobody named it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub bead_id: String,
    /// What it is, in a line.
    pub title: String,
    /// What to do, where it is not all in the title.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// Which of the tasks of its run it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bead_num: Option<u64>,
    /// How many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// What came of earlier tasks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prior_summaries: Vec<String>,
}

/// A task is finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoneBody {
    /// The task; empty where nobody named it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub bead_id: String,
    /// The commit it ended with, by whatever name of git's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_hash: Option<String>,
    /// What was done.
    pub summary: String,
}

/// A worker cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StuckBody {
    /// The task; empty where nobody named it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub bead_id: String,
    /// Why.
    pub reason: String,
    /// What would help.
    pub needs: Needs,
    /// The task that has to be finished first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<String>,
}

/// How far the work is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProgressBody {
    /// The task; empty where nobody named it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub bead_id: String,
    /// How much of it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<u64>,
    /// What is being done.
    pub status: String,
    /// The files that are being worked on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// What a message says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Body {
    /// Of a TASK.
    Task(TaskBody),
    /// Of a DONE.
    Done(DoneBody),
    /// Of a STUCK.
    Stuck(StuckBody),
    /// Of a PROGRESS.
    Progress(ProgressBody),
    /// Of a QUERY or REPLY: words.
    Text(String),
}

/// A body that its subject does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the body of a {subject}: {reason}")]
pub struct InvalidBody {
    subject: Subject,
    reason: String,
}

impl DoneBody {
    /// What was done, and with which commit: the result of the task.
    pub fn words(&self) -> String {
        let summary = self.summary.trim_end();
        match &self.commit_hash {
            Some(commit) => format!("{summary}\n\ncommit {commit}"),
            None => summary.to_owned(),
        }
    }
}

impl Body {
    /// Reads a body as its subject asks for.
    pub fn parse(subject: Subject, text: &str) -> Result<Self, InvalidBody> {
        read(subject, text).map_err(|reason| InvalidBody { subject, reason })
    }

    /// The task that it is about.
    pub fn task(&self) -> Option<&str> {
        let task = match self {
            Self::Task(body) => &body.bead_id,
            Self::Done(body) => &body.bead_id,
            Self::Stuck(body) => &body.bead_id,
            Self::Progress(body) => &body.bead_id,
            Self::Text(_) => return None,
        };
        Some(task.as_str()).filter(|it| !it.is_empty())
    }

    /// The same about this task.
    #[must_use]
    pub fn about(mut self, task: &str) -> Self {
        match &mut self {
            Self::Task(body) => body.bead_id = task.to_owned(),
            Self::Done(body) => body.bead_id = task.to_owned(),
            Self::Stuck(body) => body.bead_id = task.to_owned(),
            Self::Progress(body) => body.bead_id = task.to_owned(),
            Self::Text(_) => {}
        }
        self
    }

    /// What it says, in a line beside the task's id: of a task, what it is.
    pub fn title(&self) -> String {
        match self {
            Self::Task(body) => summary_of(&body.title),
            Self::Done(_) | Self::Stuck(_) | Self::Progress(_) | Self::Text(_) => self.line(),
        }
    }

    /// What it says, in a line.
    pub fn line(&self) -> String {
        let said = match self {
            Self::Task(body) => body.title.clone(),
            Self::Done(body) => summary_of(&body.summary),
            Self::Stuck(body) => format!("needs {}: {}", body.needs, summary_of(&body.reason)),
            Self::Progress(body) => {
                let percent = body.percent.map(|it| format!("{it} % "));
                format!(
                    "{}{}",
                    percent.unwrap_or_default(),
                    summary_of(&body.status)
                )
            }
            Self::Text(text) => text.clone(),
        };
        let said = match self.task() {
            Some(task) => format!("{task}: {said}"),
            None => said,
        };
        summary_of(&said)
    }

    /// All that it says, in words.
    pub fn words(&self) -> String {
        let said = match self {
            Self::Task(body) if body.prompt.is_empty() => body.title.clone(),
            Self::Task(body) => format!("{}\n\n{}", body.title, body.prompt.trim_end()),
            Self::Done(body) => body.words(),
            Self::Stuck(body) => {
                let on = body.depends_on.as_ref().map(|it| format!(" on task {it}"));
                let (reason, needs) = (body.reason.trim_end(), body.needs);
                format!("{reason}\n\nneeds {needs}{}", on.unwrap_or_default())
            }
            Self::Progress(body) => {
                let percent = body.percent.map(|it| format!("{it} % "));
                let files: String = body.files.iter().map(|it| format!("\n- {it}")).collect();
                format!("{}{}{files}", percent.unwrap_or_default(), body.status)
            }
            Self::Text(text) => return text.clone(),
        };
        match self.task() {
            Some(task) => format!("task {task}: {said}\n"),
            None => format!("{said}\n"),
        }
    }

    /// The body as it is stored: JSON, or the words themselves.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Task(_) | Self::Done(_) | Self::Stuck(_) | Self::Progress(_) => {
                let value = serde_json::to_value(self).unwrap_or_default();
                format!("{value:#}\n")
            }
        }
    }
}

fn read(subject: Subject, text: &str) -> Result<Body, String> {
    if text.trim().is_empty() {
        return Err("it says nothing".to_owned());
    }
    if matches!(subject, Subject::Query | Subject::Reply) {
        return Ok(Body::Text(text.to_owned()));
    }
    if !text.trim_start().starts_with(['{', '[']) {
        return Ok(free(subject, text));
    }
    let raw = match serde_json::from_str(text) {
        Ok(Value::Object(raw)) => raw,
        Ok(_) => return Err("it must be a JSON object".to_owned()),
        Err(error) => return Err(format!("it must be a JSON object: {error}")),
    };
    let fields = BodyFields(&raw);
    let bead_id = fields.task()?;
    Ok(match subject {
        Subject::Task => {
            let prompt = fields.text("prompt")?.unwrap_or_default();
            let title = match fields.text("title")? {
                Some(title) => title,
                None if prompt.is_empty() => bead_id.clone(),
                None => summary_of(&prompt),
            };
            let total = fields.number("total", 1, u64::MAX)?;
            Body::Task(TaskBody {
                bead_id,
                title,
                prompt,
                bead_num: fields.number("bead_num", 1, total.unwrap_or(u64::MAX))?,
                total,
                prior_summaries: fields.texts("prior_summaries")?,
            })
        }
        Subject::Done => Body::Done(DoneBody {
            bead_id,
            commit_hash: fields.text("commit_hash")?,
            summary: fields.required("summary", "what was done")?,
        }),
        Subject::Stuck => {
            let reason = fields.required("reason", "why it cannot go on")?;
            let needs = fields.required("needs", "guidance, dependency or abort")?;
            let parsed: Result<Needs, _> = needs.parse();
            let needs = parsed.map_err(|error| format!("needs: {error}"))?;
            let depends_on = fields.text("depends_on")?;
            if depends_on.is_some() && needs != Needs::Dependency {
                return Err("depends_on goes with needs dependency only".to_owned());
            }
            Body::Stuck(StuckBody {
                bead_id,
                reason,
                needs,
                depends_on,
            })
        }
        Subject::Progress => Body::Progress(ProgressBody {
            bead_id,
            percent: fields.number("percent", 0, 100)?,
            status: fields.required("status", "what is being done")?,
            files: fields.texts("files")?,
        }),
        Subject::Query | Subject::Reply => Body::Text(text.to_owned()),
    })
}

/// Words where a subject asks for an object: what they are is what matters most of it.
fn free(subject: Subject, text: &str) -> Body {
    let (bead_id, text) = (String::new(), text.trim_end().to_owned());
    match subject {
        Subject::Task => Body::Task(TaskBody {
            bead_id,
            title: summary_of(&text),
            prompt: text,
            ..TaskBody::default()
        }),
        Subject::Done => Body::Done(DoneBody {
            bead_id,
            commit_hash: None,
            summary: text,
        }),
        Subject::Stuck => Body::Stuck(StuckBody {
            bead_id,
            reason: text,
            needs: Needs::Guidance,
            depends_on: None,
        }),
        Subject::Progress => Body::Progress(ProgressBody {
            bead_id,
            percent: None,
            status: text,
            files: Vec::new(),
        }),
        Subject::Query | Subject::Reply => Body::Text(text),
    }
}
