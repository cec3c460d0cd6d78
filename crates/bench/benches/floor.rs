//! `cargo bench -p flagpost-bench`: builds `flagpost` as it is released, then measures it.
//!
//! It must never measure by itself: there is one way to measure, `flagpost-bench`.

use std::{
    io,
    process::{Command, ExitCode, ExitStatus},
};

fn main() -> io::Result<ExitCode> {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--package", "flagpost"])
        .status()?;
    if !built.success() {
        return Ok(code(built));
    }
    // cargo adds its own flag to what was typed after `--`.
    let args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let measured = Command::new(env!("CARGO_BIN_EXE_flagpost-bench"))
        .args(args)
        .status()?;
    Ok(code(measured))
}

fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(1))
}
