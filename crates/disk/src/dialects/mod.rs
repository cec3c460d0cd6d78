//! Formats of somebody else's that Flagpost reads and writes exactly.
