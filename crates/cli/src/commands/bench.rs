//! `bench`: how fast this machine is, and how near to that we come.
//!
//! Owns which rows there are and how they are told. Every row measures the machine's floor and
//! ours in turns, so that what else the machine does slows both. A slow answer is an answer; a
//! task that two claimers got is a failure.

mod events;
mod files;
mod fleet;
mod floor;
mod index;
mod race;
mod relay;
mod row;
mod scratch;
mod soak;
mod verbs;

use anyhow::Result;
use serde_json::{Value, json};

use self::{row::Row, scratch::Scratch};
use crate::shape;
use crate::{
    context::Context,
    error::usage,
    output::{Answer, Screen},
};

/// Measure Flagpost beside this machine's floor; takes a minute
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost bench --rows claim,import --json\n\
    The scratch directory is made where temporary files go; TMPDIR chooses another disk.")]
pub struct Args {
    /// Only these rows, by name or the beginning of it: replace, add, claim-10000
    #[arg(long, value_name = "ROW", value_delimiter = ',')]
    rows: Vec<String>,
    /// Fewer runs and smaller lists
    #[arg(long)]
    quick: bool,
    /// Claim tasks until none is ready: what a claiming process of the race does
    #[arg(long, hide = true, conflicts_with_all = ["rows", "quick"])]
    claimer: bool,
    #[command(subcommand)]
    what: Option<What>,
}

/// What else there is than rows.
#[derive(Debug, clap::Subcommand)]
enum What {
    Soak(soak::Args),
}

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Runs of a write.
    writes: usize,
    /// Runs of a cold process.
    spawns: usize,
    /// Sizes of the lists.
    sizes: &'static [usize],
    /// Tasks of the bulk import.
    import: usize,
    /// Runs of the bulk import.
    imports: usize,
    /// Envelopes in the index.
    envelopes: u64,
    /// Tasks that are claimed in a race.
    race: usize,
}

const FULL: Effort = Effort {
    writes: 400,
    spawns: 60,
    sizes: &[100, 1_000, 10_000],
    import: 10_000,
    imports: 3,
    envelopes: 100_000,
    race: 2_000,
};

const QUICK: Effort = Effort {
    writes: 50,
    spawns: 10,
    sizes: &[100, 1_000],
    import: 1_000,
    imports: 1,
    envelopes: 2_000,
    race: 200,
};

/// What the rows are measured with.
#[derive(Debug)]
pub struct Bench<'a> {
    scratch: Scratch,
    effort: Effort,
    only: &'a [String],
}

impl Bench<'_> {
    /// Whether a row was asked for.
    fn wants(&self, row: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| row.starts_with(only.as_str()))
    }
}

/// Measures.
pub fn run(context: &Context, args: &Args) -> Result<Answer> {
    if let Some(What::Soak(args)) = &args.what {
        return soak::run(context, args);
    }
    if args.claimer {
        return race::claimer(context);
    }
    let bench = Bench {
        scratch: Scratch::new()?,
        effort: if args.quick { QUICK } else { FULL },
        only: &args.rows,
    };
    let mut rows = files::measure(&bench)?;
    rows.extend(verbs::measure(&bench)?);
    rows.extend(index::measure(&bench)?);
    rows.extend(race::measure(&bench)?);
    rows.extend(relay::measure(&bench)?);
    rows.extend(events::measure(&bench)?);
    if rows.is_empty() {
        return Err(usage(format!(
            "no row begins with {}",
            args.rows.join(" or ")
        )));
    }
    Ok(answer(context, &bench, &rows))
}

fn answer(context: &Context, bench: &Bench<'_>, rows: &[Row]) -> Answer {
    let body = json!({
        "dir": shape::path(bench.scratch.dir()),
        "cpus": std::thread::available_parallelism().map_or(1, |n| n.get()),
        "rows": rows.iter().map(Row::to_json).collect::<Vec<Value>>(),
    });
    let screen = Screen::of(context);
    let table = screen.table(Row::HEADER, rows.iter().map(Row::cells).collect());
    let doubles: u64 = rows.iter().map(|row| row.doubles).sum();
    let mut answer = Answer::new("bench", body)
        .text(
            table
                + "Milliseconds, 95 of 100 runs within; 'best' is the ratio of the fastest runs.\n",
        )
        .ids(rows.iter().map(|row| &row.name));
    if bench.scratch.is_in_memory() {
        let dir = bench.scratch.dir().display();
        let note = format!(
            "{dir} is in memory, where nothing waits for a disk: set TMPDIR to a disk of yours"
        );
        answer.notes.push(note);
    }
    if doubles > 0 {
        answer
            .notes
            .push(format!("{doubles} tasks were claimed twice"));
        answer.code = crate::error::Kind::Failed as u8;
    }
    answer
}
