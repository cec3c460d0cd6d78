//! `inbox`, `outbox`: what is on its way.

use flagpost_core::{
    answers::{BriefInFull, BriefsPage, ReportsPage, each},
    operations::Operation,
    relay::{
        brief_snapshots,
        briefs::BriefView,
        reports::{self, ReportView},
        shown,
    },
    slash,
};
use flagpost_model::{Seq, WorkerId, envelope::Report, message::Message, task::Origin};

use super::withheld;
use crate::{
    commands::list::{LIMIT, more, unseen},
    context::Context,
    output::Answer,
    screen::Screen,
    terminal::{clean, line},
};

/// Show the briefs that wait for a decision
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost inbox W3 7")]
pub struct InboxArgs {
    /// Only this worker's briefs
    worker: Option<String>,
    /// This brief in full
    #[arg(requires = "worker")]
    seq: Option<String>,
    /// Decided ones too
    #[arg(long, short, conflicts_with = "seq")]
    all: bool,
    /// Into a pipe: every byte of it, also what would steer a terminal
    #[arg(long, requires = "seq")]
    raw: bool,
    /// At most this many, the newest; 0 for all
    #[arg(long, value_name = "N", default_value_t = LIMIT)]
    limit: usize,
}

impl InboxArgs {
    /// Whether it is about one worker's.
    pub fn names_a_worker(&self) -> bool {
        self.worker.is_some()
    }

    /// Whether all are meant, and how many at most; 0 is no limit.
    pub fn extent(&self) -> (bool, usize) {
        (self.all, self.limit)
    }

    /// One in full, or all of them.
    pub fn operation(&self) -> Operation {
        match self.seq {
            Some(_) => Operation::BriefShow,
            None => Operation::BriefList,
        }
    }
}

/// Show the workers' reports
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost outbox W3 2\n\
    A report that was shown in full counts as read, unless another worker looks at it.")]
pub struct OutboxArgs {
    /// Only this worker's reports
    worker: Option<String>,
    /// This report in full
    #[arg(requires = "worker")]
    seq: Option<String>,
    /// Only those that nobody has read
    #[arg(long, conflicts_with = "seq")]
    unread: bool,
    /// Into a pipe: every byte of it, also what would steer a terminal
    #[arg(long, requires = "seq")]
    raw: bool,
    /// At most this many, the newest; 0 for all
    #[arg(long, value_name = "N", default_value_t = LIMIT)]
    limit: usize,
}

impl OutboxArgs {
    /// A report that is shown in full counts as read.
    pub fn operation(&self) -> Operation {
        match self.seq {
            Some(_) => Operation::ReportRead,
            None => Operation::ReportList,
        }
    }
}

/// Shows briefs.
pub fn inbox(context: &Context, args: &InboxArgs) -> anyhow::Result<Answer> {
    let (worker, seq) = named(args.worker.as_deref(), args.seq.as_deref())?;
    let fleet = context.fleet()?;
    if let (Some(worker), Some(seq)) = (&worker, seq) {
        let (letter, before) = brief_snapshots::show(&fleet.mail(worker)?, seq)?;
        let name = super::name(&letter.brief);
        let answer = Answer::of(&BriefInFull::new(&letter, before.as_ref())).ids([name]);
        let answer = match withheld::in_full(&letter, before.as_ref()) {
            Some(text) if !args.raw => answer.text(clean(&text, false)),
            _ => in_full(answer, &letter.body, args.raw).notes(withheld::warning(&letter)),
        };
        return Ok(remembered(context, answer, vec![letter]));
    }
    let (mut letters, skipped) = slash::inbox(&fleet, worker.as_ref())?;
    letters.retain(|it| args.all || it.waits());
    let (total, hidden) = cut(&mut letters, args.limit);
    let screen = Screen::of(context);
    let rows = letters.iter().map(|it| row(screen, it)).collect();
    let (misread, others): (Vec<_>, Vec<_>) = letters.iter().partition(|it| it.is_misread());
    let notices = misread
        .into_iter()
        .chain(others)
        .filter_map(withheld::notice_of_any);
    let notices: String = notices.map(|it| format!("\n{it}")).collect();
    let text = match (letters.is_empty(), skipped.is_empty()) {
        (true, true) => "nothing waits for you".to_owned(),
        (true, false) => "nothing that can be read waits for you".to_owned(),
        (false, _) => {
            let header = ["WORKER", "SEQ", "STAGE", "KIND", "TICKET", "SUMMARY"];
            screen.table(&header, rows) + &more(hidden) + &notices
        }
    };
    let answer = Answer::of(&BriefsPage::new(each(&letters), total, &skipped))
        .text(text)
        .ids(letters.iter().map(|it| super::name(&it.brief)))
        .notes(unseen(context, hidden))
        .notes(crate::shape::mail_notes(&skipped));
    Ok(remembered(context, answer, letters))
}

/// An answer that shows briefs: once it is out, a person has seen them.
pub fn remembered(context: &Context, answer: Answer, letters: Vec<BriefView>) -> Answer {
    if letters.is_empty() || context.settings.origin() != Origin::Person {
        return answer;
    }
    answer.then(move |context| {
        // Should it fail, the operator is asked once more.
        let _: flagpost_core::Result<()> =
            shown::remember(&context.fleet()?, &context.actor()?, &letters);
        Ok(())
    })
}

/// Shows reports.
pub fn outbox(context: &Context, args: &OutboxArgs) -> anyhow::Result<Answer> {
    let (worker, seq) = named(args.worker.as_deref(), args.seq.as_deref())?;
    let fleet = context.fleet()?;
    if let (Some(worker), Some(seq)) = (&worker, seq) {
        let paper = reports::show(&fleet.mail(worker)?, seq)?;
        let worker = worker.clone();
        let answer = Answer::of(&paper).ids([name(&paper)]);
        return Ok(
            report_in_full(answer, &paper.report, args.raw).then(move |context| {
                let mail = context.fleet()?.mail(&worker)?;
                let agent = context.settings.agent()?;
                reports::read(&mail, &context.actor()?, agent.as_ref(), seq)?;
                Ok(())
            }),
        );
    }
    let (mut papers, skipped) = slash::outbox(&fleet, worker.as_ref())?;
    papers.retain(|it| !args.unread || !it.read);
    papers.sort_by_key(|it| it.report.produced_at);
    let (total, hidden) = cut(&mut papers, args.limit);
    let screen = Screen::of(context);
    let rows = papers.iter().map(|paper| {
        let report = &paper.report;
        let state = match (paper.confirmed, paper.read) {
            (true, _) => "confirmed",
            (false, true) => "read",
            (false, false) => "new",
        };
        let ticket = report.ticket_id.clone().unwrap_or_default();
        let pr = report
            .pr_number
            .map(|pr| format!("#{pr}"))
            .unwrap_or_default();
        let (worker, seq) = (report.worker_id.to_string(), report.seq.to_string());
        let said = line(&Message::of_report(report).line());
        vec![
            worker,
            seq,
            screen.state(state),
            in_words(report.kind.as_str()),
            ticket,
            pr,
            said,
        ]
    });
    let text = match papers.is_empty() {
        true => "no reports".to_owned(),
        false => {
            let header = ["WORKER", "SEQ", "STATE", "KIND", "TICKET", "PR", "SAYS"];
            screen.table(&header, rows.collect()) + &more(hidden)
        }
    };
    let page = ReportsPage::new(papers.iter().collect(), total, &skipped);
    Ok(Answer::of(&page)
        .text(text)
        .ids(papers.iter().map(name))
        .notes(unseen(context, hidden))
        .notes(crate::shape::skipped_notes(&skipped)))
}

/// A whole report: in words, unless every byte of it is asked for.
fn report_in_full(answer: Answer, report: &Report, raw: bool) -> Answer {
    match raw {
        true => in_full(answer, &report.body, true),
        false => in_full(answer, &Message::of_report(report).in_full(), false),
    }
}

/// A whole text: as clean in a pipe as on a terminal, unless every byte of it is asked for.
fn in_full(answer: Answer, body: &str, raw: bool) -> Answer {
    match raw {
        true => answer.exact(body.to_owned()),
        false => answer.text(clean(body, false)),
    }
}

fn named(
    worker: Option<&str>,
    seq: Option<&str>,
) -> anyhow::Result<(Option<WorkerId>, Option<Seq>)> {
    let worker = worker.map(str::parse).transpose()?;
    let seq = seq.map(str::parse).transpose()?;
    Ok((worker, seq))
}

/// Keeps the newest; how many there were, and how many are left out.
fn cut<T>(all: &mut Vec<T>, limit: usize) -> (usize, usize) {
    let total = all.len();
    let hidden = match limit {
        0 => 0,
        limit => total.saturating_sub(limit),
    };
    all.drain(..hidden);
    (total, hidden)
}

/// A kind as a person reads it.
fn in_words(kind: &str) -> String {
    kind.replace('_', " ")
}

fn row(screen: Screen, letter: &BriefView) -> Vec<String> {
    let brief = &letter.brief;
    let ticket = brief.target_ticket.clone().unwrap_or_default();
    vec![
        brief.target_worker.to_string(),
        brief.seq.to_string(),
        screen.state(stage(letter)),
        in_words(brief.kind.as_str()),
        ticket,
        line(&brief.summary),
    ]
}

fn stage(letter: &BriefView) -> &'static str {
    match letter.held {
        Some(_) if letter.is_misread() => "misread",
        Some(_) => "withheld",
        None if letter.is_unproposed() => "foreign",
        None => letter.stage.as_str(),
    }
}

fn name(paper: &ReportView) -> String {
    format!("{}/{}", paper.report.worker_id, paper.report.seq.get())
}
