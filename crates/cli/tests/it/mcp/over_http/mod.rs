//! The daemon's tools over HTTP, from outside: tokens by the binary, and real clients at `/mcp`.

mod clients;
mod conformance;
mod inspected;
mod tokens;

use std::net::SocketAddr;

use flagpost_testkit::sealed::World;

use crate::daemon::Daemon;

/// A daemon, and the token of W1, of a world with these tasks and the workers W1 and W2.
struct Door<'w> {
    _daemon: Daemon<'w>,
    token: String,
    address: SocketAddr,
}

impl<'w> Door<'w> {
    fn of(world: &'w World) -> Self {
        let up = world.json(["up"]).1;
        let http = up["daemon"]["http"].as_str().unwrap();
        Self {
            _daemon: Daemon(world),
            token: token(world, "W1"),
            address: http.strip_prefix("http://").unwrap().parse().unwrap(),
        }
    }

    fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

/// A new token of a worker, as it is: what a world shows of an answer has a name in place of the
/// repository's id.
fn token(world: &World, worker: &str) -> String {
    let mut command = world.command();
    let made = command
        .args(["worker", "token", worker, "--quiet"])
        .output();
    let made = made.unwrap();
    assert!(made.status.success(), "{made:?}");
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}
