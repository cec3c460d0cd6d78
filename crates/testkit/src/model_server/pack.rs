//! Bodies as they come over the wire.
//!
//! Owns unpacking: a client may send gzip or zstd. What cannot be unpacked is kept as it is, and is
//! then no JSON.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

/// The body as it was before it was packed so.
pub(super) fn unpacked(encoding: Option<&str>, body: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let whole = match encoding {
        Some("gzip") => MultiGzDecoder::new(body).read_to_end(&mut plain).is_ok(),
        Some("zstd") => StreamingDecoder::new(body)
            .is_ok_and(|mut decoder| decoder.read_to_end(&mut plain).is_ok()),
        _ => false,
    };
    if whole { plain } else { body.to_vec() }
}

#[cfg(test)]
mod tests {
    use flate2::{Compression, write::GzEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write;

    use super::*;

    #[test]
    fn a_body_is_read_however_it_was_packed() {
        let text = b"# Task 1: Write the parser".repeat(400);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(&text).unwrap();
        let gzip = gzip.finish().unwrap();
        let zstd = compress_to_vec(text.as_slice(), CompressionLevel::Fastest);
        assert!(gzip.len() < text.len() && zstd.len() < text.len());
        assert_eq!(unpacked(Some("gzip"), &gzip), text);
        assert_eq!(unpacked(Some("zstd"), &zstd), text);
        assert_eq!(unpacked(None, &text), text);
        assert_eq!(unpacked(Some("zstd"), b"{}"), b"{}");
    }
}
