//! The verbs of every day as a user runs them: one cold process each.

use std::{fmt::Write, path::PathBuf};

use anyhow::Result;
use flagpost_disk::fsx::{self, RealFs};

use crate::{Bench, floor, row::BenchRow, scratch::Repository};

/// add, claim, ready and list at every size, then the bulk import.
pub fn measure(bench: &Bench<'_>) -> Result<Vec<BenchRow>> {
    let mut rows = Vec::new();
    for &size in bench.effort.sizes {
        let verbs: [(&str, &[&str]); 4] = [
            ("add", &["add", "A task among many"]),
            ("claim", &["claim", "--next", "--as", "W1"]),
            ("ready", &["ready"]),
            ("list", &["list", "--limit", "50"]),
        ];
        let wanted = |verb: &str| bench.wants(&format!("{verb}-{size}"));
        if !verbs.iter().any(|(verb, _)| wanted(verb)) {
            continue;
        }
        let repository = bench.scratch.repository(&format!("list-{size}"))?;
        repository.import(&plan(bench, size)?)?;
        repository.settle()?;
        for (verb, args) in verbs {
            if wanted(verb) {
                rows.push(cold(bench, &repository, verb, size, args)?);
            }
        }
    }
    let name = format!("import-{}", bench.effort.import);
    if bench.wants(&name) {
        rows.push(import(bench, name)?);
    }
    Ok(rows)
}

fn cold(
    bench: &Bench<'_>,
    repository: &Repository<'_>,
    verb: &str,
    size: usize,
    args: &[&str],
) -> Result<BenchRow> {
    let (floor, ours) = bench.scratch.in_turns(
        bench.effort.spawns,
        || repository.run(&["--version"]),
        || repository.run(args),
    )?;
    Ok(BenchRow {
        name: format!("{verb}-{size}"),
        what: format!("flagpost {verb}, cold, {size} tasks in the list"),
        floor_is: "an empty process",
        floor,
        ours,
        is_verb: true,
        ..BenchRow::default()
    })
}

fn import(bench: &Bench<'_>, name: String) -> Result<BenchRow> {
    let count = bench.effort.import;
    let plan = plan(bench, count)?;
    let mut run = 0;
    let mut bare = 0;
    let (floor, ours) = bench.scratch.in_turns(
        bench.effort.imports,
        || {
            bare += 1;
            let dir = bench.scratch.make_dir(&format!("many-{bare}"))?;
            Ok(floor::many(&dir, count, &[b'x'; 600])?)
        },
        || {
            run += 1;
            bench
                .scratch
                .repository(&format!("import-{run}"))?
                .import(&plan)
        },
    )?;
    Ok(BenchRow {
        name,
        what: format!("flagpost import, cold, {count} new tasks, durable"),
        floor_is: "as many files, one sync, renamed",
        floor,
        ours,
        ..BenchRow::default()
    })
}

/// A plan as planners write them: some order, some priorities, a sentence each.
pub fn plan(bench: &Bench<'_>, tasks: usize) -> Result<PathBuf> {
    let mut text = String::new();
    for n in 1..=tasks {
        let after = if n % 5 == 0 {
            format!(" (after: {})", n - 1)
        } else {
            String::new()
        };
        let priority = ["high", "medium", "low"][n % 3];
        // Writing to a text cannot fail.
        let _ = writeln!(
            text,
            "- [ ] Step {n} of the generated plan{after} {{priority: {priority}, group: part-{}}}\n      \
             What is to be done in step {n}, told in a sentence of ordinary length.",
            n % 7,
        );
    }
    let path = bench.scratch.dir().join(format!("plan-{tasks}.md"));
    fsx::replace(&RealFs, &path, text.as_bytes())?;
    Ok(path)
}
