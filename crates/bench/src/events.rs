//! From a brief that is there to whoever listens to the daemon.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};

use crate::{
    Bench,
    fleet::Fleet,
    floor,
    row::{BenchRow, Samples},
};

/// As long as a brief of the bench.
const BYTES: [u8; 600] = [b'x'; 600];
/// So long an event may take before the bench gives up on it.
const PATIENCE: Duration = Duration::from_secs(10);

/// told.
pub fn measure(bench: &Bench<'_>) -> Result<Vec<BenchRow>> {
    if !bench.wants("told") {
        return Ok(Vec::new());
    }
    let fleet = Fleet::new(&bench.scratch, "told", 1)?;
    fleet.repository.run(&["up"])?;
    let told = told(bench, &fleet);
    fleet.repository.run(&["down"])?;
    Ok(vec![told?])
}

fn told(bench: &Bench<'_>, fleet: &Fleet<'_>) -> Result<BenchRow> {
    let worker = fleet.ids.first().context("there is a worker")?;
    let dir = bench.scratch.make_dir("told-floor")?;
    let mut stream = listen(fleet)?;
    // The state comes first.
    hears(&mut stream, "daemon.resync")?;
    let (mut floor, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..bench.effort.writes {
        floor.push(bench.scratch.time(|| Ok(floor::file(&dir, &BYTES)?))?);
        fleet.propose(worker)?;
        let durable = Instant::now();
        hears(&mut stream, "controller.brief_proposed")?;
        ours.push(durable.elapsed());
    }
    Ok(BenchRow {
        name: "told".to_owned(),
        what: "from a durable brief to its event at a listener of the daemon".to_owned(),
        floor_is: "write, sync, rename; sync directory",
        floor: floor.into_iter().collect::<Samples>(),
        ours: ours.into_iter().collect(),
        ..BenchRow::default()
    })
}

fn listen(fleet: &Fleet<'_>) -> Result<BufReader<UnixStream>> {
    let mut stream = UnixStream::connect(fleet.socket()).context("the daemon does not answer")?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET /v1/relay/inbox/events HTTP/1.0\r\n\r\n")?;
    Ok(BufReader::new(stream))
}

/// Waits for an event of this name.
fn hears(stream: &mut BufReader<UnixStream>, name: &str) -> Result<()> {
    let wanted = format!("event: {name}");
    let mut line = String::new();
    while stream.read_line(&mut line).context("no event came")? > 0 {
        if line.trim_end() == wanted {
            return Ok(());
        }
        line.clear();
    }
    anyhow::bail!("the daemon ended before it told of {name}")
}
