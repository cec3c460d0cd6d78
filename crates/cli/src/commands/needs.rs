//! `inbox`: all that needs a person, as `status` begins with it, too.
//!
//! Owns the row of each and which of them are shown; what needs a person is core's to say.

use flagpost_core::{
    ListReader,
    answers::NeedsAnswer,
    needs::{Need, NeedSubject, Needs, NeedsScope, needs},
    operations::Operation,
};

use super::{
    list::more,
    relay::mail::{self, remembered},
    status::list_if_any,
};
use crate::{context::Context, output::Answer, screen::Screen, shape, terminal::line};

/// Show all that needs you
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost inbox\nflagpost inbox --briefs\nflagpost inbox W3 7\n\n\
    Of each it prints the command that settles it. A worker's name means the briefs to it.",
    mut_arg("all", |it| it.help("Of every repository; of briefs, decided ones too")),
    mut_arg("limit", |it| it.help("At most this many; 0 for all"))
)]
pub struct NeedsArgs {
    /// Only the briefs that wait for a decision
    #[arg(long, conflicts_with = "worker")]
    briefs: bool,
    #[command(flatten)]
    mail: mail::InboxArgs,
}

impl NeedsArgs {
    /// What it asks for.
    pub fn operation(&self) -> Operation {
        match self.is_of_briefs() {
            true => self.mail.operation(),
            false => Operation::NeedsList,
        }
    }

    fn is_of_briefs(&self) -> bool {
        self.briefs || self.mail.names_a_worker()
    }
}

/// Shows it.
pub fn inbox(context: &Context, args: &NeedsArgs) -> anyhow::Result<Answer> {
    if args.is_of_briefs() {
        return mail::inbox(context, &args.mail);
    }
    let (home, reader) = (&context.home, ListReader::default());
    let (is_of_all, limit) = args.mail.extent();
    let found = match is_of_all {
        true => needs(home, &reader, NeedsScope::Home)?,
        false => {
            let (list, here) = (list_if_any(context)?.ok(), context.repository()?);
            let loaded = list.as_ref().map(|it| reader.look(it)).transpose()?;
            let list = list.as_ref().zip(loaded.as_ref());
            let list = list.map(|(list, loaded)| (list, &loaded.outlines[..]));
            needs(home, &reader, NeedsScope::Here(here.as_ref(), list))?
        }
    };
    let shown = match limit {
        0 => found.all.len(),
        limit => limit.min(found.all.len()),
    };
    let screen = Screen::of(context);
    let rows = found.all.iter().take(shown).map(|it| {
        let repo = it.item.key.repo.as_deref().filter(|_| is_of_all);
        let repo = repo.map(|it| format!("{}: ", line(it)));
        format!("{}{}\n", repo.unwrap_or_default(), row(screen, it))
    });
    let text = match found.all.is_empty() {
        true => "nothing needs you\n".to_owned(),
        false => rows.collect::<String>() + &more(found.all.len() - shown),
    };
    let answer = Answer::of(&NeedsAnswer::from(&found))
        .text(text)
        .ids(found.all.iter().map(|it| it.item.key.item.as_str()));
    let answer = noted(answer, &found);
    let briefs = found.all.into_iter().filter_map(|it| match it.about {
        NeedSubject::Brief(brief) => Some(*brief),
        _ => None,
    });
    Ok(remembered(context, answer, briefs.collect()))
}

/// With what could not be read.
pub(super) fn noted(answer: Answer, needs: &Needs) -> Answer {
    answer
        .notes(shape::mail_notes(&needs.skipped))
        .notes(needs.faults.iter().cloned())
}

/// What it says, since when, and below it the command that settles it.
pub(super) fn row(screen: Screen, need: &Need) -> String {
    let at = need.item.key.at;
    let at = at.map(|at| format!(" ({})", screen.time(at)));
    let command = need.settle_with.as_ref();
    let command = command.map(|it| format!("\n    {}", line(it)));
    let (at, command) = (at.unwrap_or_default(), command.unwrap_or_default());
    format!("{}{at}{command}", line(&need.line))
}
