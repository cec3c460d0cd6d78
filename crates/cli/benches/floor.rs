//! `cargo bench`: the verb that users have, on the binary as it is released.
//!
//! It must never measure by itself: there is one way to measure, `flagpost bench`.

use std::{
    io,
    process::{Command, ExitCode},
};

fn main() -> io::Result<ExitCode> {
    // cargo adds its own flag to what was typed after `--`.
    let args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let status = Command::new(env!("CARGO_BIN_EXE_flagpost"))
        .arg("bench")
        .args(args)
        .status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}
