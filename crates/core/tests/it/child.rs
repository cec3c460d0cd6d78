//! What the other processes of these tests do.

use flagpost_testkit::race::{self, Children};

/// The children of this binary.
pub const CHILDREN: Children = Children::of("child::main");

#[test]
fn main() {
    let Some(part) = race::part() else { return };
    #[allow(clippy::match_single_binding)]
    match part.role() {
        role => panic!("no such part: {role}"),
    }
}
