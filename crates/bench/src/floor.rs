//! What the machine itself can do.
//!
//! Owns the bare system calls that nobody who promises the same can do without. It must never call
//! what it is compared with.

#![expect(
    clippy::disallowed_methods,
    reason = "the floor is the bare system calls"
)]

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::Path,
    thread::{self, ScopedJoinHandle},
};

use flagpost_disk::fsx::{Fs, RealFs};

/// A small file, durable under its name: written aside, synced, renamed, directory synced.
pub fn file(dir: &Path, bytes: &[u8]) -> io::Result<()> {
    aside(dir, "one", bytes)?.sync_data()?;
    fs::rename(dir.join(".one"), dir.join("one"))?;
    File::open(dir)?.sync_all()
}

/// Two small files of one message: both synced, both renamed, directory synced once.
pub fn pair(dir: &Path, bytes: &[u8]) -> io::Result<()> {
    for name in ["meta", "body"] {
        aside(dir, name, bytes)?.sync_data()?;
    }
    for name in ["meta", "body"] {
        fs::rename(dir.join(format!(".{name}")), dir.join(name))?;
    }
    File::open(dir)?.sync_all()
}

/// The four waits of a brief: for a number and two small files of one message, all synced side by
/// side; for the number's name; for a line at the end of a file; for the two names.
pub fn numbered_pair(dir: &Path, bytes: &[u8]) -> io::Result<()> {
    let number = aside(dir, "number", b"4711\n")?;
    let meta = aside(dir, "meta", bytes)?;
    let body = aside(dir, "body", bytes)?;
    thread::scope(|beside| {
        let others = [&number, &meta].map(|file| beside.spawn(|| file.sync_data()));
        body.sync_data()?;
        let synced = |other: ScopedJoinHandle<'_, io::Result<()>>| {
            other
                .join()
                .map_err(|_| io::Error::other("the thread panicked"))?
        };
        others.into_iter().try_for_each(synced)
    })?;
    fs::rename(dir.join(".number"), dir.join("number"))?;
    File::open(dir)?.sync_all()?;
    line(&dir.join("lines"), bytes)?;
    for name in ["meta", "body"] {
        fs::rename(dir.join(format!(".{name}")), dir.join(name))?;
    }
    File::open(dir)?.sync_all()
}

/// Many small files: written aside, the file system synced once, renamed, directory synced.
pub fn many(dir: &Path, count: usize, bytes: &[u8]) -> io::Result<()> {
    for n in 0..count {
        aside(dir, &n.to_string(), bytes)?;
    }
    RealFs.sync_all(dir)?;
    for n in 0..count {
        fs::rename(dir.join(format!(".{n}")), dir.join(n.to_string()))?;
    }
    File::open(dir)?.sync_all()
}

/// One line at the end of a file, durable.
pub fn line(path: &Path, line: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(line)?;
    file.sync_data()
}

fn aside(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<File> {
    let mut file = File::create_new(dir.join(format!(".{name}")))?;
    file.write_all(bytes)?;
    Ok(file)
}
