//! Numbers that are given out once.
//!
//! Owns the counter file: `max(counter, highest seen) + 1`, durable before anybody hears of it. Gaps
//! are legal, reuse is not. The caller holds the lock that belongs to the counter.

use std::path::Path;

use super::{Batch, Error, Fs, Result, read, replace};

/// Hands out `count` numbers in a row and returns the first. `highest` is the highest number in
/// use, live or archived: it wins over a counter that lags behind.
pub fn allocate(fs: &dyn Fs, counter: &Path, highest: u64, count: u64) -> Result<u64> {
    let (first, end) = following(fs, counter, highest, count)?;
    replace(fs, counter, format!("{end}\n").as_bytes())?;
    Ok(first)
}

/// Hands out one number to what is in a batch: it is taken once the batch is sealed.
pub fn allocate_in(batch: &mut Batch, fs: &dyn Fs, counter: &Path, highest: u64) -> Result<u64> {
    let (first, end) = following(fs, counter, highest, 1)?;
    batch.put_first(counter.to_owned(), format!("{end}\n").into_bytes());
    Ok(first)
}

/// The first of the next `count` numbers, and the last.
fn following(fs: &dyn Fs, counter: &Path, highest: u64, count: u64) -> Result<(u64, u64)> {
    let last = peek(fs, counter)?.max(highest);
    let Some(end) = last.checked_add(count) else {
        let reason = format!("there are no numbers above {last}");
        return Err(Error::Malformed {
            path: counter.to_owned(),
            reason,
        });
    };
    Ok((last.saturating_add(1), end))
}

/// The highest number given out so far; 0 before the first.
pub fn peek(fs: &dyn Fs, counter: &Path) -> Result<u64> {
    let Some(bytes) = read(fs, counter)? else {
        return Ok(0);
    };
    let text = String::from_utf8_lossy(&bytes);
    text.trim().parse().map_err(|_| Error::Malformed {
        path: counter.to_owned(),
        reason: format!(
            "{:?} is not a number",
            text.chars().take(40).collect::<String>()
        ),
    })
}
