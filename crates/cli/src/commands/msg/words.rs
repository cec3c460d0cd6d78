//! What `msg send` is to say: a body as it is, or one made of words and options.
//!
//! Owns which option goes with which subject. Shells mangle JSON, so that every field of a body has
//! an option of its own; the model judges what comes of it.

use flagpost_model::{
    envelope::summary_of,
    message::{Body, DoneBody, Needs, ProgressBody, StuckBody, Subject, TaskBody},
};

use crate::{commands::query::named, error::usage, text::TextArg};

/// What to say
#[derive(Debug, clap::Args)]
pub struct WordsArgs {
    /// What to say; with --task the prompt, summary, reason or status; - is stdin
    text: Option<String>,
    #[command(flatten)]
    source: TextArg,
    /// The body as it is: JSON, or plain words about the one task in hand; - is stdin
    #[arg(long, short, value_name = "JSON", conflicts_with_all = ["text", "file", "task"])]
    body: Option<String>,
    /// Make the body: this is the task that it is about
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Of a TASK: what it is [default: the first line of the prompt]
    #[arg(long, value_name = "LINE", requires = "task")]
    title: Option<String>,
    /// Of a TASK: which of the tasks it is
    #[arg(long, value_name = "N", requires = "task")]
    num: Option<u64>,
    /// Of a TASK: how many there are
    #[arg(long, value_name = "N", requires = "task")]
    total: Option<u64>,
    /// Of a TASK: what came of an earlier one; may be given several times
    #[arg(long, value_name = "TEXT", requires = "task")]
    prior: Vec<String>,
    /// Of a DONE: the commit it ended with, by whatever name
    #[arg(long, value_name = "REF", requires = "task")]
    commit: Option<String>,
    /// Of a STUCK: guidance, dependency or abort
    #[arg(long, value_name = "WHAT", requires = "task", value_parser = named::<Needs>)]
    needs: Option<Needs>,
    /// Of a STUCK: the task that has to be finished first
    #[arg(long, value_name = "ID", requires = "task")]
    depends_on: Option<String>,
    /// Of a PROGRESS: how much is done
    #[arg(long, value_name = "N", requires = "task")]
    percent: Option<u64>,
    /// Of a PROGRESS: a file that is worked on; may be given several times
    #[arg(long, value_name = "PATH", requires = "task")]
    touches: Vec<String>,
}

impl WordsArgs {
    /// The body, as it will be stored.
    pub fn read(&self, subject: Subject) -> anyhow::Result<String> {
        let text = match &self.body {
            Some(body) => TextArg::default().read(Some(body))?,
            None => self.source.read(self.text.as_deref())?,
        };
        // A TASK whose title says all needs no more.
        let is_all = subject == Subject::Task && self.task.is_some() && self.title.is_some();
        let text = text.or_else(|| is_all.then(String::new));
        let text = text.ok_or_else(|| {
            usage("say something: TEXT with --task, or the whole body with --body or --file")
        })?;
        match &self.task {
            Some(task) => self.compose(subject, task.clone(), text),
            None => Ok(text),
        }
    }

    fn compose(&self, subject: Subject, bead_id: String, text: String) -> anyhow::Result<String> {
        self.must_fit(subject)?;
        let body = match subject {
            Subject::Task => Body::Task(TaskBody {
                bead_id,
                title: self.title.clone().unwrap_or_else(|| summary_of(&text)),
                prompt: text,
                bead_num: self.num,
                total: self.total,
                prior_summaries: self.prior.clone(),
            }),
            Subject::Done => Body::Done(DoneBody {
                bead_id,
                commit_hash: self.commit.clone(),
                summary: text,
            }),
            Subject::Stuck => Body::Stuck(StuckBody {
                bead_id,
                reason: text,
                needs: self.needs.ok_or_else(|| {
                    usage("say what would help: --needs guidance, dependency or abort")
                })?,
                depends_on: self.depends_on.clone(),
            }),
            Subject::Progress => Body::Progress(ProgressBody {
                bead_id,
                percent: self.percent,
                status: text,
                files: self.touches.clone(),
            }),
            Subject::Query | Subject::Reply => {
                return Err(usage(format!(
                    "a {subject} is about no task: leave --task out, and say --re where it answers"
                )));
            }
        };
        Ok(body.to_text())
    }

    /// Refuses an option of another subject: it would be dropped in silence.
    fn must_fit(&self, subject: Subject) -> anyhow::Result<()> {
        let given = [
            ("--title", Subject::Task, self.title.is_some()),
            ("--num", Subject::Task, self.num.is_some()),
            ("--total", Subject::Task, self.total.is_some()),
            ("--prior", Subject::Task, !self.prior.is_empty()),
            ("--commit", Subject::Done, self.commit.is_some()),
            ("--needs", Subject::Stuck, self.needs.is_some()),
            ("--depends-on", Subject::Stuck, self.depends_on.is_some()),
            ("--percent", Subject::Progress, self.percent.is_some()),
            ("--touches", Subject::Progress, !self.touches.is_empty()),
        ];
        match given.iter().find(|(_, of, is)| *is && *of != subject) {
            Some((option, of, _)) => Err(usage(format!("{option} goes with {of}, not {subject}"))),
            None => Ok(()),
        }
    }
}
