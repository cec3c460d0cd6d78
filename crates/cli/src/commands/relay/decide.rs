//! `ratify`, `reject`: open the gate, or do not.

use crate::{
    context::Context,
    error::{FailureKind, usage},
    output::Answer,
    streams::{ask, say},
    terminal::{counted, line},
};
use flagpost_core::{
    Error,
    answers::DecidedAnswer,
    relay::{
        Fleet,
        briefs::{self, BriefView},
        decide::{self, Decided, DecisionRequest, Undecided},
        fleet::{Ratified, pending, ratify_all},
        shown,
    },
    slash::{count_status, decided_line, ratified_lines},
};
use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, Via},
    envelope::{Hash, InvalidPrint},
    glob::Glob,
};

/// Approve briefs: one, several or all
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "flagpost ratify [OPTIONS] <WORKER [SEQ]…|all>",
    after_help = "Example: flagpost ratify W3 7\n\
    flagpost ratify W1 W2\n\
    flagpost ratify all --scope 'W{1,2}'"
)]
pub struct RatifyArgs {
    /// The worker; all is every worker
    worker: String,
    /// Which brief [default: the newest that waits]; then more workers and numbers
    #[arg(value_name = "SEQ")]
    seq: Vec<String>,
    /// The hash of what you saw: only that is let through, also where it was changed
    #[arg(long, value_name = "HASH", value_parser = hash)]
    seen: Option<Hash>,
    /// Of all, only the workers that this pattern takes, as in W{1,2}
    #[arg(long, value_name = "GLOB")]
    scope: Option<String>,
    /// Exit with the number of briefs ratified, at most 125
    #[arg(long)]
    count_status: bool,
}

/// Reject a brief, and notify its worker
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost reject W3 'Too large: split it'\n\
    flagpost reject W3 7 'Too large: split it'")]
pub struct RejectArgs {
    /// The worker
    worker: String,
    /// Which brief [default: the newest that waits]
    seq: Option<String>,
    /// Why; the worker is told; - is stdin
    #[arg(value_name = "REASON")]
    words: Option<String>,
    /// The same as an option
    #[arg(long, value_name = "TEXT", conflicts_with = "words")]
    reason: Option<String>,
    /// The hash of what you saw: only that is rejected
    #[arg(long, value_name = "HASH", value_parser = hash)]
    seen: Option<Hash>,
}

impl RatifyArgs {
    /// The first word.
    pub fn first(&self) -> &str {
        &self.worker
    }

    /// All words, where no option says that they mean briefs.
    pub fn as_tasks(&self) -> Option<Vec<&str>> {
        let is_of_briefs = self.seen.is_some() || self.scope.is_some() || self.count_status;
        let words = std::iter::once(&self.worker).chain(&self.seq);
        (!is_of_briefs).then(|| words.map(String::as_str).collect())
    }
}

/// What is said where the hash of one text comes with several briefs.
const ONE_SEEN: &str = "--seen goes with one brief: 'flagpost ratify WORKER SEQ --seen HASH'";

fn hash(text: &str) -> Result<Hash, String> {
    let hash = text.parse();
    hash.map_err(|error: InvalidPrint| {
        format!("{error}: 'flagpost inbox WORKER SEQ --json' tells it as envelope")
    })
}

/// Ratifies.
pub fn ratify(context: &Context, args: &RatifyArgs) -> anyhow::Result<Answer> {
    if args.worker == "all" {
        return all(context, args);
    }
    if args.scope.is_some() || args.count_status {
        return Err(usage(
            "--scope and --count-status go with all, as in ratify all",
        ));
    }
    let mut wish = DecisionRequest::new(Decision::Ratified, Via::Cli);
    wish.seen.clone_from(&args.seen);
    match named(&args.worker, &args.seq)?.as_slice() {
        [(worker, seq)] => one(context, worker, *seq, &wish),
        _ if args.seen.is_some() => Err(usage(ONE_SEEN)),
        several => ratify_several(context, several, &wish),
    }
}

/// Rejects.
pub fn reject(context: &Context, args: &RejectArgs) -> anyhow::Result<Answer> {
    let mut wish = DecisionRequest::new(Decision::Rejected, Via::Cli);
    let (seq, words) = match (&args.seq, &args.words) {
        (Some(word), None) if !is_number(word) => (None, Some(word)),
        (Some(word), Some(_)) if !is_number(word) => {
            return Err(usage(
                "put the reason in quotes, as in reject W3 'Too large: split it'",
            ));
        }
        (seq, words) => (seq.as_deref(), words.as_ref()),
    };
    if words.is_some() && args.reason.is_some() {
        return Err(usage("give the reason once"));
    }
    let reason = words.or(args.reason.as_ref());
    wish.reason = reason.map(|it| crate::text::one_line(it)).transpose()?;
    wish.seen.clone_from(&args.seen);
    let seq = seq.map(str::parse).transpose()?;
    one(context, &args.worker.parse()?, seq, &wish)
}

/// Whether a word is meant as the number of a brief.
fn is_number(word: &str) -> bool {
    word.bytes().all(|it| it.is_ascii_digit())
}

/// The briefs that words name: a number is of the worker before it; a worker without one is meant with
/// its newest.
fn named(first: &str, words: &[String]) -> anyhow::Result<Vec<(WorkerId, Option<Seq>)>> {
    let mut worker: WorkerId = first.parse()?;
    let mut briefs = vec![(worker.clone(), None)];
    for word in words {
        if !is_number(word) {
            worker = word.parse()?;
            briefs.push((worker.clone(), None));
            continue;
        }
        if briefs.last().is_some_and(|(_, seq)| seq.is_none()) {
            briefs.pop();
        }
        briefs.push((worker.clone(), Some(word.parse()?)));
    }
    Ok(briefs)
}

/// The number of the brief that is meant, and how its text begins where nobody named it.
fn meant(
    context: &Context,
    worker: &WorkerId,
    seq: Option<Seq>,
    wish: &DecisionRequest,
) -> anyhow::Result<(Seq, String)> {
    if let Some(seq) = seq {
        return Ok((seq, String::new()));
    }
    let newest = newest(context, worker, wish)?;
    Ok((newest.brief.seq, first_lines(&newest)))
}

fn one(
    context: &Context,
    worker: &WorkerId,
    seq: Option<Seq>,
    wish: &DecisionRequest,
) -> anyhow::Result<Answer> {
    let mail = context.fleet()?.mail(worker)?;
    let (seq, begins) = meant(context, worker, seq, wish)?;
    let decided = decide::decide(&mail, &context.actor()?, Some(seq), wish)?;
    let mut answer = answer(&decided);
    answer.text = format!("{}\n{begins}", answer.text);
    Ok(answer)
}

/// Ratifies several briefs. All are looked up before the first is decided, so that a typo in the last
/// one costs nothing; what one of them is refused for keeps no other from its decision.
fn ratify_several(
    context: &Context,
    briefs: &[(WorkerId, Option<Seq>)],
    wish: &DecisionRequest,
) -> anyhow::Result<Answer> {
    let (operator, fleet) = (context.actor()?, context.fleet()?);
    let mut looked_up = Vec::new();
    for (worker, seq) in briefs {
        let mail = fleet.mail(worker)?;
        let (seq, begins) = meant(context, worker, *seq, wish)?;
        briefs::show(&mail, seq)?;
        looked_up.push((mail, seq, begins));
    }
    let (mut all, mut text) = (Ratified::default(), String::new());
    for (mail, seq, begins) in looked_up {
        match decide::decide(&mail, &operator, Some(seq), wish) {
            Ok(decided) => {
                text += &format!("{}\n{begins}", decided_line(&decided));
                all.done.push(decided);
            }
            Err(error) => {
                let seq = Some(seq);
                all.failed
                    .push((mail.worker().clone(), Undecided { seq, error }));
            }
        }
    }
    let mut answer = ratified_answer(&all).text(text);
    answer.notes = ratified_lines(&all).faults;
    answer.code = failed(&all);
    Ok(answer)
}

/// The exit code where some could not be ratified.
fn failed(all: &Ratified) -> u8 {
    match all.failed.is_empty() {
        true => 0,
        false => FailureKind::Failed as u8,
    }
}

/// The newest brief that waits. Where some came that the operator was not shown, what waits is listed
/// and the operator is asked; who names the text that was seen has looked.
pub fn newest(
    context: &Context,
    worker: &WorkerId,
    wish: &DecisionRequest,
) -> anyhow::Result<BriefView> {
    let fleet = context.fleet()?;
    let mail = fleet.mail(worker)?;
    let choice = shown::choose(&fleet, &mail, &context.actor()?)?;
    if choice.unseen.is_empty() || wish.seen.is_some() {
        return Ok(choice.newest);
    }
    // What cannot be decided on is not asked about.
    decide::open(&mail, choice.newest.brief.seq)?;
    for letter in &choice.waiting {
        let (seq, new) = (letter.brief.seq, choice.unseen.contains(&letter.brief.seq));
        let new = if new { "  (new)" } else { "" };
        say(&format!(
            "{worker} {seq} {}{new}",
            line(&letter.brief.summary)
        ));
    }
    let begins = first_lines(&choice.newest);
    if !begins.is_empty() {
        say(begins.trim_end());
    }
    let seq = choice.newest.brief.seq;
    match ask(&format!("is {seq} to be {}?", wish.decision))? {
        Some(true) => Ok(choice.newest),
        Some(false) => Err(usage("nothing was decided")),
        None => Err(Error::Unseen {
            worker: worker.clone(),
            waiting: choice.waiting.len(),
            unseen: choice.unseen.len(),
            newest: seq,
            decision: wish.decision,
        }
        .into()),
    }
}

/// How many lines of a text are shown with a decision on it.
const LINES: usize = 3;

/// How a text begins, where it says more than its summary.
fn first_lines(letter: &BriefView) -> String {
    let lines = letter.body.lines().filter(|it| !it.trim().is_empty());
    let lines: Vec<&str> = lines.take(LINES + 1).collect();
    if lines == [letter.brief.summary.as_str()] {
        return String::new();
    }
    let shown = lines.iter().take(LINES);
    let mut text: String = shown.map(|it| format!("  | {}\n", line(it))).collect();
    if lines.len() > LINES {
        text += "  | …\n";
    }
    text
}

/// What is said about a decision.
pub fn answer(decided: &Decided) -> Answer {
    let all = Ratified {
        done: vec![decided.clone()],
        ..Ratified::default()
    };
    ratified_answer(&all).text(decided_line(decided))
}

fn all(context: &Context, args: &RatifyArgs) -> anyhow::Result<Answer> {
    if !args.seq.is_empty() {
        return Err(usage(
            "all takes no number: 'flagpost ratify WORKER SEQ' decides on one brief",
        ));
    }
    if args.seen.is_some() {
        return Err(usage(ONE_SEEN));
    }
    let scope: Option<Glob> = args.scope.as_deref().map(str::parse).transpose()?;
    let (operator, fleet) = (context.actor()?, context.fleet()?);
    let all = ratify_all(&fleet, &operator, scope.as_ref(), Via::Cli, &mut |_| {})?;
    let said = ratified_lines(&all);
    let text = match (all.done.is_empty(), said.faults.is_empty()) {
        (true, true) => nothing(&fleet, args.scope.as_deref())?,
        _ => said.lines.join("\n"),
    };
    let mut answer = ratified_answer(&all).text(text).notes(said.faults);
    answer.code = match args.count_status {
        true => count_status(all.done.len()),
        false => failed(&all),
    };
    Ok(answer)
}

/// What is said where nothing in the scope waits: what waits elsewhere.
fn nothing(fleet: &Fleet<'_>, scope: Option<&str>) -> anyhow::Result<String> {
    let others = pending(fleet)?.0.len();
    Ok(match scope {
        Some(scope) if others > 0 => {
            let waits = counted(others, "other brief waits", "other briefs wait");
            format!("nothing in {scope} waits for you; {waits}")
        }
        _ => "nothing waits for you".to_owned(),
    })
}

fn ratified_answer(all: &Ratified) -> Answer {
    Answer::of(&DecidedAnswer::from(all)).ids(all.done.iter().map(|it| super::name(&it.brief)))
}
