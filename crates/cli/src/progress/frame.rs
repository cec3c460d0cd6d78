//! What the screen shows of a run at one moment: the part that stays below what has happened.
//!
//! Owns the layout: what is running, the questions, what stands in the way, and the total, in this
//! order from above. Pure: the account, the size and the moment are arguments. Invariants: no line is
//! wider than the screen; there are never so many that the last results have no room above; the
//! total is always there. No line is longer than it has to be: what a terminal breaks when it becomes
//! narrower can end where nobody can erase it.

use std::cmp::Ordering;

use anstyle::{AnsiColor, Style};

use super::{
    account::{Ask, ElapsedTime, Parts, RunProgress, RunningTask},
    format::{a_try, dollars, lasting, tokens},
    outcome::ShownOutcome,
};
use crate::fit::{StyledLine, cut, fold, width};

/// How a moment is looked at.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// How many columns there are.
    pub columns: usize,
    /// How many lines.
    pub rows: usize,
    /// Whether in colours.
    pub painted: bool,
    /// When.
    pub moment: ElapsedTime,
}

/// What is never more than a part of the screen, so that the last results stay above it.
const RESULTS: usize = 4;

/// The lines, from above; the first is empty where there is room for that.
pub fn lines(account: &RunProgress, view: View) -> Vec<String> {
    let most = view
        .rows
        .saturating_sub((view.rows / RESULTS).max(1))
        .max(1);
    let columns = Columns::of(account, view, most);
    let total = total(account, columns, view);
    let total = &total[..total.len().min(most)];
    let mut left = most - total.len();
    let gap = usize::from(left > 4);
    left -= gap;
    let news = within(in_the_way(account, view), left.div_ceil(2));
    left -= news.len();
    let questions = questions(account, view, left - keep_for_work(account, left));
    left -= questions.len();
    let work = at_work(account, columns, view, left);
    let mut lines = vec![String::new(); gap];
    for row in work.into_iter().chain(questions).chain(news) {
        lines.push(row.fit(view.columns, view.painted));
    }
    lines.extend(total.iter().cloned());
    lines
}

/// The columns that lines share.
#[derive(Debug, Clone, Copy)]
struct Columns {
    /// How many the ids of what is running take; a longer one takes its own.
    ids: usize,
    /// Where the lines with a time end.
    edge: usize,
}

impl Columns {
    /// Those of a frame of so many lines at most.
    fn of(account: &RunProgress, view: View, most: usize) -> Self {
        /// An id that is longer moves no other.
        const LONGEST: usize = 6;
        let works = &account.at_work[..account.at_work.len().min(most)];
        let ids = works.iter().map(|it| width(it.task.as_str()));
        let ids = ids.filter(|it| *it <= LONGEST).max().unwrap_or_default();
        let whole = |work: &RunningTask| {
            let row = named(work, ids).text() + &words(&note(work, view));
            width(&row) + GAP + width(&time(work, view))
        };
        let bar =
            width(&bar_row(account, view).text()) + GAP + width(&lasting(view.moment.elapsed));
        let widest = works.iter().map(whole).max().unwrap_or_default().max(bar);
        Self {
            ids,
            edge: widest.min(view.columns),
        }
    }
}

/// So many blanks are before a time at least.
const GAP: usize = 2;

/// How much of what is left must stay for what is running, whatever else there is to say.
fn keep_for_work(account: &RunProgress, left: usize) -> usize {
    account.at_work.len().min(left / 2)
}

fn within(mut rows: Vec<StyledLine>, most: usize) -> Vec<StyledLine> {
    rows.truncate(most);
    rows
}

/// What is running, a line each; where there is no room for all, how many there are besides.
fn at_work(account: &RunProgress, columns: Columns, view: View, most: usize) -> Vec<StyledLine> {
    let all = &account.at_work;
    let shown = match all.len() {
        n if n <= most => n,
        _ => most.saturating_sub(1),
    };
    let rows = all[..shown].iter().map(|it| work(it, columns, view));
    let mut rows: Vec<StyledLine> = rows.collect();
    if shown < all.len() && most > 0 {
        rows.push(StyledLine::plain(format!(
            "  … and {} more",
            all.len() - shown
        )));
    }
    rows
}

/// A task at work: its subject gives way to what is said of it, and keeps a part of the line.
fn work(work: &RunningTask, columns: Columns, view: View) -> StyledLine {
    let time = time(work, view);
    let besides = note(work, view);
    let told = width(&words(&besides));
    let room = columns.edge.saturating_sub(width(&time) + GAP);
    let name = named(work, columns.ids).text();
    let mut row = StyledLine::plain(cut(&name, room.saturating_sub(told).max(room / 3)));
    for (style, words) in besides {
        row = row.then(Style::new(), ", ").then(style, words);
    }
    joined(&row, &StyledLine::plain(time), columns.edge)
}

/// Its id, at the right of so many columns, and its subject.
fn named(work: &RunningTask, ids: usize) -> StyledLine {
    let blank = " ".repeat(ids.saturating_sub(width(work.task.as_str())));
    StyledLine::plain(format!("  {blank}{} {}", work.task, work.subject))
}

/// How long it has been going on.
fn time(work: &RunningTask, view: View) -> String {
    lasting(view.moment.elapsed.saturating_sub(work.began))
}

/// What there is to say of it besides.
fn note(work: &RunningTask, view: View) -> Vec<(Style, String)> {
    let mut besides = Vec::new();
    if work.attempt.number > 1 {
        besides.push((Style::new(), a_try(work.attempt)));
    }
    if let Some(note) = &work.note
        && note.is_current(view.moment)
    {
        let style = if note.worries { worry() } else { dim() };
        besides.push((style, note.words.clone()));
    }
    besides
}

/// The same behind its name, without styles.
fn words(besides: &[(Style, String)]) -> String {
    besides
        .iter()
        .map(|(_, words)| format!(", {words}"))
        .collect()
}

/// A row with another one that ends at this column; it gives way to that.
fn joined(row: &StyledLine, right: &StyledLine, edge: usize) -> StyledLine {
    let taken = width(&right.text());
    if taken + GAP > edge {
        return row.clone();
    }
    let row = row.shortened(edge - taken - 1);
    let blank = edge - taken - width(&row.text());
    row.then(Style::new(), " ".repeat(blank))
        .then(dim(), right.text())
}

/// The questions, each with the command that answers it, as far as there is room.
fn questions(account: &RunProgress, view: View, most: usize) -> Vec<StyledLine> {
    let asks = &account.asks;
    let mut rows: Vec<StyledLine> = Vec::new();
    for (at, ask) in asks.iter().enumerate() {
        let others = asks.len() - at - 1;
        let room = most - rows.len();
        let reserved = usize::from(others > 0);
        let command = account.answers(&ask.task);
        let shown = question(ask, &command, view, room.saturating_sub(reserved));
        if shown.is_empty() {
            if room > 0 {
                let more = format!("… and {} more questions: flagpost status", others + 1);
                rows.push(StyledLine::default().then(asking(), more));
            }
            break;
        }
        rows.extend(shown);
    }
    rows
}

/// One question: its words, folded, and below them the command.
fn question(ask: &Ask, command: &str, view: View, most: usize) -> Vec<StyledLine> {
    const LINES: usize = 4;
    let words = format!("asks {}", ask.what());
    let lines = match most {
        0 => return Vec::new(),
        1 => fold(&words, view.columns, 1),
        most => fold(&words, view.columns, LINES.min(most - 1)),
    };
    let row = |line: String| StyledLine::default().then(asking(), line);
    let mut rows: Vec<StyledLine> = lines.into_iter().map(row).collect();
    if most > 1 {
        rows.push(StyledLine::plain(format!("  {command}")));
    }
    rows
}

/// What keeps the run, or a part of it, from going on.
fn in_the_way(account: &RunProgress, view: View) -> Vec<StyledLine> {
    let mut rows = Vec::new();
    for (agent, until) in &account.parked {
        let words = match until {
            Some(until) => {
                let left = until.duration_since(view.moment.now);
                match left.is_positive() {
                    true => format!(
                        "{agent} is parked, free in {}",
                        lasting(left.unsigned_abs())
                    ),
                    false => format!("{agent} is parked, free any moment"),
                }
            }
            None => format!("{agent} is parked, it did not say until when"),
        };
        rows.push(StyledLine::default().then(ShownOutcome::Parked.style(), words));
    }
    if let Some((on, why)) = &account.hindrance {
        let until = super::words::until(*on);
        rows.push(StyledLine::default().then(worry(), format!("waiting {until}: {why}")));
    }
    if account.stays {
        let words = "nothing can go on by itself: the run stays, Ctrl-C ends it";
        rows.push(StyledLine::default().then(worry(), words));
    }
    if account.draining {
        let words = "ending: running agents may finish; Ctrl-C once more stops them";
        rows.push(StyledLine::default().then(worry(), words));
    }
    rows
}

/// The bar, and the numbers behind it.
fn total(account: &RunProgress, columns: Columns, view: View) -> Vec<String> {
    let time = StyledLine::plain(lasting(view.moment.elapsed));
    let bar = joined(&bar_row(account, view), &time, columns.edge);
    let rows = [bar, numbers(account, &account.parts())];
    let rows = rows.iter().filter(|row| !row.text().is_empty());
    rows.map(|row| row.fit(view.columns, view.painted))
        .collect()
}

/// The bar, and how far it is, without the time.
fn bar_row(account: &RunProgress, view: View) -> StyledLine {
    let parts = account.parts();
    let of = format!(" {} of {} passed", parts.passed, parts.all);
    let bar = bar(&parts, (view.columns / 3).clamp(4, 40)).then(Style::new().bold(), of);
    match account.wave {
        Some((n, of)) => bar.then(dim(), format!("  wave {n} of {of}")),
        None => bar,
    }
}

fn numbers(account: &RunProgress, parts: &Parts) -> StyledLine {
    let asks = if parts.asking == 1 { "asks" } else { "ask" };
    let counted = [
        (parts.failed, "failed", ShownOutcome::Failed.style()),
        (parts.asking, asks, asking()),
        (parts.skipped, "skipped", ShownOutcome::Skipped.style()),
        (parts.running, "running", Style::new()),
        (parts.open(), "to do", Style::new()),
    ];
    let mut row = StyledLine::default();
    let counted = counted.into_iter().filter(|(n, ..)| *n > 0);
    for (at, (n, word, style)) in counted.enumerate() {
        if at > 0 {
            row = row.then(Style::new(), ", ");
        }
        row = row.then(style, format!("{n} {word}"));
    }
    let spent = spent(account).join(", ");
    match row.text().is_empty() || spent.is_empty() {
        true => row.then(dim(), spent),
        false => row.then(dim(), format!("  {spent}")),
    }
}

/// What it took so far, as far as clients told.
pub fn spent(account: &RunProgress) -> Vec<String> {
    let used = account.usage.total().map(tokens);
    used.into_iter()
        .chain(account.cost_usd.map(dollars))
        .collect()
}

/// A bar of so many cells between its ends. What passed, failed, asks, was skipped and is running
/// has its own part, and its own sign where there are no colours; the rest stays empty.
fn bar(parts: &Parts, cells: usize) -> StyledLine {
    let segments = [
        (parts.passed, "█", ShownOutcome::Passed.style()),
        (parts.failed, "x", ShownOutcome::Failed.style()),
        (parts.asking, "?", asking()),
        (parts.skipped, "-", ShownOutcome::Skipped.style()),
        (parts.running, "░", Style::new()),
        (parts.open(), " ", Style::new()),
    ];
    let counts = segments.map(|(count, ..)| count);
    let mut row = StyledLine::plain("[");
    if parts.all == 0 {
        row = row.then(Style::new(), " ".repeat(cells));
    }
    for ((_, sign, style), cells) in segments.into_iter().zip(shares(counts, cells)) {
        row = row.then(style, sign.repeat(cells));
    }
    row.then(Style::new(), "]")
}

/// So many cells shared out by these counts: whoever has anything has a cell, as long as there are
/// any, and the rest goes by size.
fn shares<const N: usize>(counts: [usize; N], cells: usize) -> [usize; N] {
    let all: usize = counts.iter().sum();
    let mut shares = counts.map(|count| match count {
        0 => 0,
        count => (count * cells / all).max(1),
    });
    // By how much a part is ahead of what it should have.
    let ahead =
        |shares: &[usize; N], at: usize| (shares[at] * all) as i128 - (counts[at] * cells) as i128;
    loop {
        let given: usize = shares.iter().sum();
        let change = match given.cmp(&cells) {
            Ordering::Less => (0..N)
                .filter(|&at| counts[at] > 0)
                .min_by_key(|&at| ahead(&shares, at)),
            Ordering::Equal => None,
            // The last cell of a part is taken only where all have but one.
            Ordering::Greater => {
                (0..N).max_by_key(|&at| (shares[at] > 1, shares[at], ahead(&shares, at)))
            }
        };
        match change {
            Some(at) if given < cells => shares[at] += 1,
            Some(at) => shares[at] -= 1,
            None => return shares,
        }
    }
}

fn dim() -> Style {
    AnsiColor::BrightBlack.on_default()
}

fn worry() -> Style {
    AnsiColor::Yellow.on_default()
}

fn asking() -> Style {
    AnsiColor::Yellow.on_default().bold()
}
