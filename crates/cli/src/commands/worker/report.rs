//! `worker report`, `worker confirm`: say how far the work is, and that an answer came.

use flagpost_core::{
    operations::Operation,
    relay::reports::{self, NewReport},
};
use flagpost_model::{
    Seq, WorkerId,
    envelope::{Extras, ReportKind, Ticket},
    view,
};
use serde_json::json;

use crate::{
    commands::{kept, query::named},
    context::Context,
    error::usage,
    output::Answer,
    text::TextArg,
};

/// Report to the controller
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost worker report 'PR is ready' --kind merge_go_request --pr 12 --as W3"
)]
pub struct ReportArgs {
    /// What to say; - is stdin
    text: Option<String>,
    #[command(flatten)]
    source: TextArg,
    /// cycle_report, merge_go_request, blocked or freeform
    #[arg(long, value_name = "KIND", default_value = "cycle_report", value_parser = named::<ReportKind>)]
    kind: ReportKind,
    /// The ticket [default: that of the brief it answers]
    #[arg(long, value_name = "TICKET")]
    ticket: Option<String>,
    /// The pull request
    #[arg(long, value_name = "N")]
    pr: Option<u64>,
    /// What should happen next, as in merge_go
    #[arg(long, value_name = "WORD")]
    next_action: Option<String>,
    /// The number of the brief that it answers
    #[arg(long = "re", value_name = "SEQ")]
    re: Option<String>,
}

/// Say that a report came full circle: what it asked for is dealt with
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost worker confirm 2 --as W3\n\
    The controller sees it in 'flagpost outbox', and as an event.")]
pub struct ConfirmArgs {
    /// The report's number
    seq: String,
}

view! {
    /// A report that came full circle, as its worker says.
    ///
    /// After 'flagpost worker confirm'.
    pub struct Confirmed<'a> {
        worker: &'a WorkerId,
        /// Its number in this direction of the worker's mail.
        seq: Seq,
        /// The worker had said so before.
        already: bool,
    }
}

/// Confirms.
pub fn confirm(context: &Context, args: &ConfirmArgs) -> anyhow::Result<Answer> {
    let seq: Seq = args.seq.parse()?;
    let mail = context.own_mail()?;
    let already = reports::confirm(&mail, &context.actor()?, seq)?;
    let before = if already { " before" } else { "" };
    let confirmed = Confirmed::new(mail.worker(), seq, already);
    Ok(Answer::of(&confirmed)
        .text(format!("{} confirmed {seq}{before}", mail.worker()))
        .ids([seq.get()]))
}

/// Reports.
pub fn run(context: &Context, args: &ReportArgs) -> anyhow::Result<Answer> {
    let ticket: Option<Ticket> = args.ticket.as_deref().map(str::parse).transpose()?;
    let re: Option<Seq> = args.re.as_deref().map(str::parse).transpose()?;
    let mail = context.own_mail()?;
    let text = args.source.read(args.text.as_deref())?;
    let text = text.ok_or_else(|| usage("say something, as in report 'Tests are green'"))?;
    let draft = NewReport {
        kind: args.kind,
        ticket: ticket.map(|it| it.as_str().to_owned()),
        body: text,
        pr: args.pr,
        next_action: args.next_action.clone(),
        in_reply_to: re,
        session: None,
        extras: Extras::default(),
    };
    let said = kept::said([
        ("text", draft.body.as_str().into()),
        ("kind", draft.kind.as_str().into()),
        ("ticket", json!(draft.ticket)),
        ("pr", json!(draft.pr)),
        ("next_action", json!(draft.next_action)),
        ("re", json!(re.map(Seq::get))),
    ]);
    let reported = match reports::publish(&mail, &context.actor()?, draft) {
        Ok(reported) => reported,
        Err(error) => {
            return Ok(kept::instead(
                context,
                error,
                Operation::ReportSend,
                &[said],
            )?);
        }
    };
    let report = &reported.report;
    let replay = "the same was reported a moment ago: nothing was added".to_owned();
    let line = format!(
        "reported {} (seq={}, {} bytes)",
        report.kind,
        report.seq,
        report.body.len()
    );
    Ok(Answer::of(&reported)
        .text(line)
        .ids([report.seq.get()])
        .notes(reported.replay.then_some(replay)))
}
