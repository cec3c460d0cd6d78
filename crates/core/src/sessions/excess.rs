//! How much of an attempt's log is kept.
//!
//! Owns the bound: the beginning and the end stay, and what is between them gives back its room on the disk
//! while the agent prints on. The file stays where it is and as long as it is, so whoever reads it goes on
//! undisturbed; in place of what is left out it says so, and has zeros. Invariant: what nobody has read yet,
//! and who has to, is never left out.

use std::ops::Range;

use flagpost_disk::fsx;
use flagpost_model::TaskId;

use super::Live;
use crate::error::Result;

/// So much of the beginning stays.
const BEGINNING: u64 = 16 << 20;

/// At least so much of the end stays.
const END: u64 = 16 << 20;

/// Room is given back when there is so much of it. A log takes up no more than this and both ends.
const STEP: u64 = 32 << 20;

/// How far the end of a line is looked for.
const LINE: u64 = 1 << 20;

impl Live<'_> {
    /// Leaves the middle of an attempt's log out, where it is too long. `read` is how much of it was read;
    /// `known` how far it was left out before. How far it is now.
    pub fn bound_log(&self, task: &TaskId, attempt: u32, read: u64, known: u64) -> Result<u64> {
        let path = self.log_path(task, attempt);
        let Some(stat) = fsx::stat(self.home().fs(), &path)? else {
            return Ok(known);
        };
        let Some(part) = excess(stat.len, read).filter(|part| part.end > known) else {
            return Ok(known);
        };
        // Up to the end of a line: half of one says nothing.
        let rest = LINE.min(stat.len.min(read) - part.end);
        let rest = self.home().fs().read_part(&path, part.end, rest);
        let rest = rest.unwrap_or_default();
        let line = rest.iter().position(|byte| *byte == b'\n');
        let end = part.end + line.map_or(0, |at| at as u64 + 1);
        let left_out = end - part.start;
        let words = format!("\n… {left_out} bytes of this log are left out here …\n");
        fsx::hollow(&path, part.start..end, &words)?;
        Ok(part.end)
    }
}

/// What is left out of a log of this length of which so much was read.
fn excess(len: u64, read: u64) -> Option<Range<u64>> {
    let end = len.saturating_sub(END).min(read) / STEP * STEP;
    (end > BEGINNING).then_some(BEGINNING..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_and_what_nobody_has_read_stay() {
        const MIB: u64 = 1 << 20;
        let all = u64::MAX;
        for (len, read, left_out) in [
            (0, all, None),
            (47 * MIB, all, None),
            (48 * MIB, all, Some((16, 32))),
            (64 * MIB, all, Some((16, 32))),
            (80 * MIB, all, Some((16, 64))),
            (80 * MIB, 40 * MIB, Some((16, 32))),
            (80 * MIB, 31 * MIB, None),
            (80 * MIB, 0, None),
        ] {
            let expected = left_out.map(|(from, to)| from * MIB..to * MIB);
            assert_eq!(excess(len, read), expected, "{len} {read}");
        }
        for len in 0..400 {
            let kept = len * MIB - excess(len * MIB, all).map_or(0, |it| it.end - it.start);
            assert!(kept <= 64 * MIB, "{len}");
        }
    }
}
