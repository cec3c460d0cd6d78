//! A block of ours in somebody else's text, between two marker lines.
//!
//! Owns where the block goes, how it is told from the text around it, and what may happen to it.
//! Invariants: every byte outside the markers is kept; inserting twice is inserting once; removing
//! what was inserted gives back the text as it was. The opening marker carries a checksum of what
//! we wrote, so that words which somebody added between the markers are theirs, and never lost.

#[cfg(test)]
mod tests;

const BEGIN: &[u8] = b"<!-- flagpost:begin";
const END: &[u8] = b"<!-- flagpost:end";
const WHOLE_END: &[u8] = b"<!-- flagpost:end -->";
const CLOSE: &[u8] = b"-->";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What we want to stand in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkedBlock<'b> {
    /// Grows whenever the body changes.
    pub version: u32,
    /// What stands between the markers: whole lines that end in `\n`.
    pub body: &'b str,
}

/// How a block of ours stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockStatus {
    /// There is none.
    Missing,
    /// As wanted.
    Current,
    /// As we once wrote it; we would write something else now.
    Outdated {
        /// The version it has.
        version: u32,
    },
    /// As a later Flagpost wrote it.
    Newer {
        /// The version it has.
        version: u32,
    },
    /// Somebody changed what is between the markers.
    Edited {
        /// The line of the opening marker, from 1.
        line: usize,
    },
}

/// Why it cannot be said where our block begins and ends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MarkerError {
    /// Two opening markers.
    #[error("two flagpost blocks, in lines {first} and {second}; leave one of them")]
    Two {
        /// The line of the first.
        first: usize,
        /// The line of the second.
        second: usize,
    },
    /// An opening marker without a closing one.
    #[error(
        "the flagpost block that begins in line {line} has no end; put '<!-- flagpost:end -->' where it ends"
    )]
    NoEnd {
        /// Its line.
        line: usize,
    },
    /// A closing marker without an opening one.
    #[error("line {line} ends a flagpost block that begins nowhere; take that line out")]
    NoBegin {
        /// Its line.
        line: usize,
    },
    /// A marker that we did not write so.
    #[error("the flagpost marker in line {line} is not as it was written")]
    BadMarker {
        /// Its line.
        line: usize,
    },
    /// The text is no UTF-8, and ours would not be read in it.
    #[error("it is UTF-16, and what Flagpost would write is UTF-8")]
    Utf16,
}

/// What is left of a text without our block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removed {
    /// There was no block.
    Nothing,
    /// There is nothing but the block: the file is of our making.
    Everything,
    /// This text.
    Text(Vec<u8>),
    /// The block holds somebody's words, and stays.
    Edited {
        /// The line of the opening marker, from 1.
        line: usize,
    },
}

impl MarkedBlock<'_> {
    /// How this block stands in a text.
    pub fn standing(&self, text: &[u8]) -> Result<BlockStatus, MarkerError> {
        let Some(found) = find(text)? else {
            return Ok(BlockStatus::Missing);
        };
        let body = found.body(text);
        Ok(if found.is_edited(&body) {
            BlockStatus::Edited { line: found.line }
        } else if found.version > self.version {
            let version = found.version;
            BlockStatus::Newer { version }
        } else if found.version == self.version && body == self.body.as_bytes() {
            BlockStatus::Current
        } else {
            let version = found.version;
            BlockStatus::Outdated { version }
        })
    }

    /// The text with this block in it; `None` as text is a file that is not there. What is current,
    /// newer or edited stays as it is.
    pub fn insert(&self, text: Option<&[u8]>) -> Result<Vec<u8>, MarkerError> {
        let Some(text) = text else {
            return Ok([&self.written(b"\n")[..], b"\n"].concat());
        };
        match (self.standing(text)?, find(text)?) {
            (BlockStatus::Outdated { .. }, Some(found)) => {
                let (before, after) = (&text[..found.start], &text[found.end..]);
                Ok([before, &self.written(found.ending), after].concat())
            }
            (BlockStatus::Missing, _) if is_utf16(text) => Err(MarkerError::Utf16),
            (BlockStatus::Missing, _) => Ok(self.append(text)),
            _ => Ok(text.to_owned()),
        }
    }

    /// Behind the text and an empty line. A text without a final line break gets none.
    fn append(&self, text: &[u8]) -> Vec<u8> {
        let ending = ending_of(text);
        let block = self.written(ending);
        if text.ends_with(b"\n") || without_mark(text).is_empty() {
            [text, ending, &block, ending].concat()
        } else {
            [text, ending, ending, &block].concat()
        }
    }

    /// The block with its markers, its lines ending so, and nothing behind the last.
    fn written(&self, ending: &[u8]) -> Vec<u8> {
        let sum = checksum(self.body.as_bytes());
        let text = format!(
            "<!-- flagpost:begin v{} {sum:08x} -->\n{}<!-- flagpost:end -->",
            self.version, self.body
        );
        let lines: Vec<&[u8]> = text.split('\n').map(str::as_bytes).collect();
        lines.join(ending)
    }
}

/// What stands between our markers, where it is clear which those are.
pub fn body(text: &[u8]) -> Option<Vec<u8>> {
    Some(find(text).ok()??.body(text))
}

/// The text without our block.
pub fn remove(text: &[u8]) -> Result<Removed, MarkerError> {
    let Some(found) = find(text)? else {
        return Ok(Removed::Nothing);
    };
    if found.is_edited(&found.body(text)) {
        return Ok(Removed::Edited { line: found.line });
    }
    let (before, behind) = (&text[..found.start], &text[found.end..]);
    let had_break = [&b"\r\n"[..], b"\n"]
        .into_iter()
        .find_map(|ending| behind.strip_prefix(ending));
    let after = had_break.unwrap_or(behind);
    let is_last = after.is_empty();
    if before.is_empty() && after.is_empty() {
        return Ok(Removed::Everything);
    }
    // The empty line that we put before it goes with it, unless it parts what stands around.
    let stands_apart = is_last || after.starts_with(b"\n") || after.starts_with(b"\r\n");
    let kept = match before.strip_suffix(found.ending) {
        Some(kept) if had_break.is_none() && is_last => {
            kept.strip_suffix(found.ending).unwrap_or(before)
        }
        Some(kept) if stands_apart && (kept.ends_with(b"\n") || without_mark(kept).is_empty()) => {
            kept
        }
        _ => before,
    };
    Ok(Removed::Text([kept, after].concat()))
}

/// Where a block is.
struct BlockSpan<'t> {
    /// Of the opening marker.
    line: usize,
    start: usize,
    inside: std::ops::Range<usize>,
    /// Behind the closing marker, before its line break.
    end: usize,
    version: u32,
    /// None where somebody made the marker by hand.
    checksum: Option<u32>,
    /// How the opening marker's line ends.
    ending: &'t [u8],
}

impl BlockSpan<'_> {
    /// What is between the markers, its lines ending in `\n`: git may have turned them.
    fn body(&self, text: &[u8]) -> Vec<u8> {
        let mut plain = Vec::with_capacity(self.inside.len());
        for line in text[self.inside.clone()].split_inclusive(|byte| *byte == b'\n') {
            let (words, ending) = part(line);
            plain.extend_from_slice(words);
            plain.extend_from_slice(if ending.is_empty() { b"" } else { b"\n" });
        }
        plain
    }

    fn is_edited(&self, body: &[u8]) -> bool {
        self.checksum != Some(checksum(body))
    }
}

fn find(text: &[u8]) -> Result<Option<BlockSpan<'_>>, MarkerError> {
    let mut open: Option<BlockSpan<'_>> = None;
    let mut closed: Option<BlockSpan<'_>> = None;
    let mut at = text.len() - without_mark(text).len();
    for (index, whole) in text[at..]
        .split_inclusive(|byte| *byte == b'\n')
        .enumerate()
    {
        let (line, start) = (index + 1, at);
        at += whole.len();
        let (words, ending) = part(whole);
        if words.trim_ascii().starts_with(BEGIN) {
            if let Some(first) = open.as_ref().or(closed.as_ref()) {
                let (first, second) = (first.line, line);
                return Err(MarkerError::Two { first, second });
            }
            let (version, checksum) = read_marker(words).ok_or(MarkerError::BadMarker { line })?;
            open = Some(BlockSpan {
                line,
                start,
                inside: at..at,
                end: at,
                version,
                checksum,
                ending,
            });
        } else if words.trim_ascii().starts_with(END) {
            if words.trim_ascii() != WHOLE_END {
                return Err(MarkerError::BadMarker { line });
            }
            let mut found = open.take().ok_or(MarkerError::NoBegin { line })?;
            found.inside.end = start;
            found.end = start + words.len();
            closed = Some(found);
        }
    }
    match open {
        Some(BlockSpan { line, .. }) => Err(MarkerError::NoEnd { line }),
        None => Ok(closed),
    }
}

/// A line and its line break.
fn part(line: &[u8]) -> (&[u8], &[u8]) {
    let len = match line {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n'] => 1,
        _ => 0,
    };
    line.split_at(line.len() - len)
}

/// The version and the checksum in an opening marker.
fn read_marker(line: &[u8]) -> Option<(u32, Option<u32>)> {
    let inner = line.trim_ascii().strip_prefix(BEGIN)?.strip_suffix(CLOSE)?;
    let mut words = std::str::from_utf8(inner).ok()?.split_ascii_whitespace();
    let version = words.next()?.strip_prefix('v')?.parse().ok()?;
    let checksum = words.next().map(|word| u32::from_str_radix(word, 16));
    let checksum = checksum.transpose().ok()?;
    words.next().is_none().then_some((version, checksum))
}

/// How the lines of a text end: as its first one does.
fn ending_of(text: &[u8]) -> &'static [u8] {
    let first = text.split_inclusive(|byte| *byte == b'\n').next();
    match first {
        Some([.., b'\r', b'\n']) => b"\r\n",
        _ => b"\n",
    }
}

fn is_utf16(text: &[u8]) -> bool {
    text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff")
}

fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// FNV-1a: it tells an edit from none, and need not withstand more.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| {
        (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}
