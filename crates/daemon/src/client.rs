//! Asking a home's daemon from another process of its user.
//!
//! Owns one question and its answer over the socket, with a deadline. What an answer says is the route's.

use std::{
    io::{self, Read as _, Write as _},
    os::unix::net::UnixStream,
    path::PathBuf,
    time::{Duration, Instant},
};

use flagpost_core::Home;
use flagpost_disk::fsx;
use serde_json::Value;

use crate::{
    error::{Error, Result},
    instance::Paths,
};

/// So long a daemon may take for one answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Answers to these questions are shorter by far.
const LONGEST_ANSWER: usize = 64 << 10;
/// So long a read or a write waits at least, since none at all would be without an end.
const PAUSE: Duration = Duration::from_millis(10);

/// A link that lets a browser in, once and within two minutes.
pub fn link(home: &Home) -> Result<String> {
    let answer = asked(home, "POST /v1/links")?;
    let url = answer["url"].as_str().map(str::to_owned);
    url.ok_or_else(|| unexpected(&answer))
}

/// A page of the user's own that leads to a link. Other users see what a command is given, and not what is
/// in a file of the home.
pub fn link_page(home: &Home, url: &str) -> Result<PathBuf> {
    let (path, url) = (
        Paths::of(home).dir.join("board.html"),
        url.replace('&', "&amp;"),
    );
    let text = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Flagpost</title>\n\
         <meta http-equiv=\"refresh\" content=\"0;url={url}\">\n"
    );
    fsx::replace(home.fs(), &path, text.as_bytes())?;
    Ok(path)
}

/// Signs every browser out; how many were in.
pub fn sign_out(home: &Home) -> Result<u64> {
    let answer = asked(home, "POST /v1/sign-out")?;
    answer["browsers"]
        .as_u64()
        .ok_or_else(|| unexpected(&answer))
}

fn asked(home: &Home, line: &str) -> Result<Value> {
    let socket = Paths::of(home).socket;
    let stream = UnixStream::connect(&socket).map_err(Error::system("ask the daemon"))?;
    let answer = ask(stream, line, Instant::now() + PATIENCE);
    answer.map_err(Error::system("ask the daemon"))
}

fn unexpected(answer: &Value) -> Error {
    let said = answer["message"].as_str().unwrap_or("it answered nothing");
    Error::system("ask the daemon")(io::Error::other(said.to_owned()))
}

/// What is answered to a request of this line.
pub(crate) fn ask(mut stream: UnixStream, line: &str, deadline: Instant) -> io::Result<Value> {
    let left = || {
        let left = deadline.saturating_duration_since(Instant::now());
        Some(left.max(PAUSE))
    };
    stream.set_write_timeout(left())?;
    // In HTTP/1.0 the answer is all that comes until the end.
    stream.write_all(format!("{line} HTTP/1.0\r\n\r\n").as_bytes())?;
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    while answer.len() < LONGEST_ANSWER && Instant::now() < deadline {
        stream.set_read_timeout(left())?;
        match stream.read(&mut part)? {
            0 => break,
            read => answer.extend_from_slice(part.get(..read).unwrap_or_default()),
        }
    }
    let answer = String::from_utf8_lossy(&answer);
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body);
    Ok(serde_json::from_str(body.unwrap_or_default())?)
}
