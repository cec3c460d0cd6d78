//! What a client refuses its agent is seen: a refused report is no report, and who passed although something
//! was refused has that shown.

use flagpost_testkit::{
    clients::{self, Client},
    model_server::Step,
};

use super::{
    for_each_client,
    stage::{Stage, runs, side_by_side},
};

for_each_client!(a_refused_report_never_passes_and_other_refusals_are_shown);

const PLAN: &str =
    "- [ ] Report where it is not allowed\n- [ ] Try what is not allowed, then say done\n";

fn a_refused_report_never_passes_and_other_refusals_are_shown(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    let refused = |name: &str| {
        let outside = stage.world.outside().join(name);
        let settings = stage.world.repository().join(".claude").join(name);
        let write = |path: &std::path::Path| {
            clients::write(client, path.to_str().unwrap(), "status: PASS\n")
        };
        Step::calls(match client {
            // A command that is not among those it may run, and a file among its own settings.
            Client::Claude if name == "report.md" => {
                vec![clients::shell(
                    client,
                    &format!("cp README.md {}", outside.display()),
                )]
            }
            Client::Claude => vec![write(&settings)],
            _ => vec![write(&outside)],
        })
    };
    stage.script(
        1,
        [
            refused("report.md"),
            Step::text("I could not report.").for_ever(),
        ],
    );
    stage.script(
        2,
        [
            refused("elsewhere.md"),
            runs(client, "flagpost done 2 'Written'"),
            Step::text("Said."),
        ],
    );
    let run = stage.run(&[
        "--agent",
        client.as_str(),
        "--retries",
        "1",
        "--max-parallel",
        side_by_side(client),
    ]);
    assert_eq!(
        (run.ends(1), run.fate(1)),
        (vec!["STUCK".to_owned()], "stuck"),
        "{}",
        run.shown
    );
    let words = run.words(1);
    assert!(
        words.contains("report.md") && words.contains("a fault of the preset"),
        "{}",
        run.shown
    );
    let asked = stage.heard(1);
    assert!(
        asked
            .last()
            .unwrap()
            .contains("Your client refused these actions"),
        "{}",
        run.shown
    );

    assert_eq!(
        (run.ends(2), run.fate(2)),
        (vec!["PASS".to_owned()], "passed"),
        "{}",
        run.shown
    );
    let denied = run.ended(2)["record"]["denied"].to_string();
    assert!(denied.contains("elsewhere.md"), "{}", run.shown);
}
