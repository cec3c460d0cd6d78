//! `attach` without a conversation that a person could go on with. With one, it is tried with the real clients.

use crate::{exits, run_stage::Stage, says};

#[test]
fn there_is_a_word_where_no_conversation_can_be_taken_up() {
    let stage = Stage::of_equal(1);
    let none = &["task 1", "no client told of one", "flagpost logs 1"];
    says(stage.world.flagpost(["attach", "1"]), 3, none);
    // A plain command line has no conversation.
    exits(stage.run("exit 0", &[]), 0);
    says(stage.world.flagpost(["attach", "1"]), 3, none);
    says(stage.world.flagpost(["attach", "9"]), 3, &["9"]);
    assert_eq!(stage.states(1), ["completed"]);
}

#[test]
fn an_agent_takes_over_no_conversation() {
    let stage = Stage::of_equal(1);
    let mut agent = stage.world.command();
    agent.env("FLAGPOST_WORKER", "W1").args(["attach", "1"]);
    says(
        stage.world.run(&mut agent),
        4,
        &["takes over no conversation"],
    );
}
