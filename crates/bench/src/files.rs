//! The writing primitives against bare system calls.

use anyhow::Result;
use flagpost_disk::fsx::{self, Batch, RealFs};

use crate::{Bench, floor, row::BenchRow};

/// As long as a task file.
const BYTES: [u8; 600] = [b'x'; 600];

/// replace, publish, publish-pair, number.
pub fn measure(bench: &Bench<'_>) -> Result<Vec<BenchRow>> {
    let theirs = bench.scratch.make_dir("floor")?;
    let ours = bench.scratch.make_dir("ours")?;
    let one = || Ok(floor::file(&theirs, &BYTES)?);
    let two = || Ok(floor::pair(&theirs, &BYTES)?);
    let mut rows = Vec::new();
    let mut row =
        |name: &str, what: &str, pair: bool, work: &mut dyn FnMut() -> Result<()>| -> Result<()> {
            if !bench.wants(name) {
                return Ok(());
            }
            let bare: &dyn Fn() -> Result<()> = if pair { &two } else { &one };
            let (floor, ours) = bench.scratch.in_turns(bench.effort.writes, bare, work)?;
            rows.push(BenchRow {
                name: name.to_owned(),
                what: what.to_owned(),
                floor_is: if pair {
                    "write, sync, rename two; sync directory"
                } else {
                    "write, sync, rename; sync directory"
                },
                floor,
                ours,
                ..BenchRow::default()
            });
            Ok(())
        };
    row("replace", "replace a file", false, &mut || {
        Ok(fsx::replace(&RealFs, &ours.join("file"), &BYTES)?)
    })?;
    let mut n = 0;
    row(
        "publish",
        "create a file whose name must be free",
        false,
        &mut || {
            n += 1;
            Ok(fsx::publish(
                &RealFs,
                &ours.join(format!("{n:06}")),
                &BYTES,
            )?)
        },
    )?;
    row(
        "publish-pair",
        "publish a brief: sidecar and body",
        true,
        &mut || {
            n += 1;
            let mut batch = Batch::new();
            batch.put(ours.join(format!("{n:06}.brief.meta.json")), BYTES.to_vec());
            batch.put(ours.join(format!("{n:06}.brief")), BYTES.to_vec());
            Ok(batch.stage(&RealFs)?.publish()?)
        },
    )?;
    row("number", "give out a number", false, &mut || {
        fsx::allocate(&RealFs, &ours.join(".seq"), 0, 1)?;
        Ok(())
    })?;
    Ok(rows)
}
