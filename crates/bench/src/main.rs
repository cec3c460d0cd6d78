//! `flagpost-bench`: how fast this machine is, and how near to that Flagpost comes.
//!
//! Owns which rows there are and how they are told. Every row measures the machine's floor and
//! ours in turns, so that what else the machine does slows both. A slow answer is an answer; a
//! task that two claimers got is a failure. It is a tool of whoever builds Flagpost: no part of it is in
//! the released program.

mod answer;
mod child;
mod events;
mod files;
mod fleet;
mod floor;
mod index;
mod land;
mod program;
mod race;
mod relay;
mod row;
mod scratch;
mod soak;
mod verbs;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{CommandFactory, Parser, error::ErrorKind};
use serde_json::{Value, json};

use self::{answer::Answer, row::BenchRow, scratch::Scratch};

/// Measure Flagpost beside this machine's floor; takes a minute
#[derive(Debug, Parser)]
#[command(
    name = "flagpost-bench",
    version,
    max_term_width = 100,
    after_help = "Example: flagpost-bench --rows claim,import --json\n\
    The scratch directory is made where temporary files go; TMPDIR chooses another disk.\n\
    Exit codes: 0 ok, 1 failed, 2 usage."
)]
struct BenchArgs {
    /// Only these rows, by name or the beginning of it: replace, add, claim-10000
    #[arg(long, value_name = "ROW", value_delimiter = ',')]
    rows: Vec<String>,
    /// Fewer runs and smaller lists
    #[arg(long)]
    quick: bool,
    /// The program to measure [default: the flagpost beside this program]
    #[arg(long, value_name = "PATH", global = true)]
    flagpost: Option<PathBuf>,
    /// Answer in JSON: one object
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// What else there is than rows.
#[derive(Debug, clap::Subcommand)]
enum Command {
    Soak(soak::SoakArgs),
    /// Claim tasks until none is ready: what a claiming process of the race does
    #[command(hide = true)]
    Claimer(child::Role),
    /// Work on briefs until stdin ends: what each worker of the soak does
    #[command(hide = true)]
    Worker(child::Role),
}

/// How much is measured.
#[derive(Debug, Clone, Copy)]
struct Effort {
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
struct Bench<'a> {
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

fn main() -> ExitCode {
    let args = BenchArgs::parse();
    match carry_out(&args) {
        Ok(code) => code,
        Err(error) => match error.downcast_ref::<clap::Error>() {
            Some(usage) => {
                eprintln!("{}", usage.to_string().trim_end());
                ExitCode::from(2)
            }
            None => {
                eprintln!("flagpost-bench: {error:#}");
                ExitCode::FAILURE
            }
        },
    }
}

fn carry_out(args: &BenchArgs) -> Result<ExitCode> {
    let answer = match &args.command {
        None => measure(args)?,
        Some(Command::Soak(soak)) => soak::run(program::find(args.flagpost.as_deref())?, soak)?,
        Some(Command::Claimer(role)) => {
            race::claimer(role)?;
            return Ok(ExitCode::SUCCESS);
        }
        Some(Command::Worker(role)) => {
            soak::work(role)?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let code = ExitCode::from(u8::from(answer.failed));
    answer.print(args.json)?;
    Ok(code)
}

fn measure(args: &BenchArgs) -> Result<Answer> {
    let bench = Bench {
        scratch: Scratch::new(program::find(args.flagpost.as_deref())?)?,
        effort: if args.quick { QUICK } else { FULL },
        only: &args.rows,
    };
    let mut rows = files::measure(&bench)?;
    rows.extend(verbs::measure(&bench)?);
    rows.extend(index::measure(&bench)?);
    rows.extend(race::measure(&bench)?);
    rows.extend(relay::measure(&bench)?);
    rows.extend(events::measure(&bench)?);
    rows.extend(land::measure(&bench)?);
    if rows.is_empty() {
        let text = format!("no row begins with {}", args.rows.join(" or "));
        return Err(BenchArgs::command()
            .error(ErrorKind::InvalidValue, text)
            .into());
    }
    Ok(answer(&bench, &rows))
}

fn answer(bench: &Bench<'_>, rows: &[BenchRow]) -> Answer {
    let doubles: u64 = rows.iter().map(|row| row.doubles).sum();
    let mut notes = Vec::new();
    if bench.scratch.is_in_memory() {
        let dir = bench.scratch.dir().display();
        notes.push(format!(
            "{dir} is in memory, where nothing waits for a disk: set TMPDIR to a disk of yours"
        ));
    }
    if doubles > 0 {
        notes.push(format!("{doubles} tasks were claimed twice"));
    }
    let cells: Vec<Vec<String>> = rows.iter().map(BenchRow::cells).collect();
    Answer {
        schema: "bench",
        body: json!({
            "dir": bench.scratch.dir().to_string_lossy(),
            "cpus": std::thread::available_parallelism().map_or(1, |n| n.get()),
            "rows": rows.iter().map(BenchRow::to_json).collect::<Vec<Value>>(),
        }),
        text: answer::table(BenchRow::HEADER, &cells)
            + "Milliseconds, 95 of 100 runs within; 'best' is the ratio of the fastest runs.\n",
        notes,
        failed: doubles > 0,
    }
}
