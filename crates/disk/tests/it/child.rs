//! What the other processes of these tests do.

use std::path::Path;

use flagpost_disk::fsx::{
    Batch, Durability, Raised, Rank, RealFs, allocate, append, flag, lock, publish, replace,
    try_hold,
};
use flagpost_testkit::{
    patience::patience,
    race::{self, ChildRole, Children},
};
use jiff::Timestamp;

/// The children of this binary.
pub const CHILDREN: Children = Children::of("child::main");

/// How many names a racer tries to win.
pub const ROUNDS: usize = 50;

#[test]
fn main() {
    let Some(part) = race::part() else { return };
    let place = part.place();
    match part.role() {
        "allocate" => draw(&part, place),
        "publish" => win(&part, |round| {
            let body = format!("{}\n", part.number());
            publish(&RealFs, &place.join(format!("{round}.md")), body.as_bytes()).is_ok()
        }),
        "flag" => win(&part, |round| {
            let raised = flag(&RealFs, &place.join(format!("{round}.ratified")));
            raised.unwrap() == Raised::Now
        }),
        "replace for ever" => for_ever(&part, |n| {
            replace(&RealFs, &place.join("file.json"), &body(n)).unwrap();
        }),
        "publish for ever" => for_ever(&part, |n| {
            publish(&RealFs, &place.join(format!("{n}.json")), &body(n)).unwrap();
        }),
        "append for ever" => for_ever(&part, |n| {
            append(&RealFs, &place.join("log"), &body(n), Durability::Synced).unwrap();
        }),
        "seal" => {
            let mut batch = Batch::new();
            batch.put(place.join("file.json"), body(0));
            let sealed = batch.stage(&RealFs).unwrap();
            part.report("sealed");
            part.wait();
            sealed.publish().unwrap();
        }
        "lock" => {
            let path = place.join(".lock");
            let held = lock(&RealFs, &path, Rank::List, patience(), Timestamp::now()).unwrap();
            part.report("locked");
            part.wait();
            drop(held);
            part.report("unlocked");
        }
        "hold" => {
            let held = try_hold(&RealFs, &place.join(".lock")).unwrap();
            part.report(held.is_some());
            part.wait();
        }
        role => panic!("no such part: {role}"),
    }
}

/// A JSON document, in one line, that is whole only when it ends in its own number.
pub fn body(n: usize) -> Vec<u8> {
    let filler = "x".repeat(n * 997 % 6000);
    format!("{{\"n\": {n}, \"filler\": \"{filler}\", \"end\": {n}}}\n").into_bytes()
}

/// The number of a whole document.
pub fn number_of(bytes: &[u8]) -> Option<usize> {
    let value: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let n = value["n"].as_u64()?;
    (value["end"].as_u64() == Some(n)).then_some(usize::try_from(n).ok()?)
}

fn draw(part: &ChildRole, place: &Path) {
    for _ in 0..ROUNDS {
        let path = place.join(".lock");
        let held = lock(
            &RealFs,
            &path,
            Rank::Direction,
            patience(),
            Timestamp::now(),
        )
        .unwrap();
        let number = allocate(&RealFs, &place.join(".seq"), 0, 1).unwrap();
        drop(held);
        part.report(number);
    }
}

fn win(part: &ChildRole, try_round: impl Fn(usize) -> bool) {
    (0..ROUNDS)
        .filter(|round| try_round(*round))
        .for_each(|round| part.report(round));
}

/// Writes and reports, each write before its report, until it is killed.
fn for_ever(part: &ChildRole, write: impl Fn(usize)) {
    for n in 0.. {
        write(n);
        part.report(n);
    }
}
