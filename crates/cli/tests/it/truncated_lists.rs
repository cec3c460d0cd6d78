//! A list that was cut says so, in every form.

use crate::world;

#[test]
fn trap_38_a_cut_list_says_so() {
    let world = world();
    let plan: String = (1..=60).map(|n| format!("- [ ] Task {n}\n")).collect();
    assert_eq!(world.feed(["task", "import", "-"], plan.as_bytes()).code, 0);
    for verb in ["list", "ready"] {
        let text = world.ok([verb]);
        assert_eq!(
            text.lines().last(),
            Some("… and 10 more: --limit 0 shows all")
        );
        assert_eq!(text.lines().count(), 1 + 50 + 1);

        let (_, json) = world.json([verb]);
        tells!(json, {"truncated": true, "total": 60});
        assert_eq!(json["tasks"].as_array().unwrap().len(), 50);

        let quiet = world.flagpost([verb, "--quiet"]);
        assert_eq!(quiet.stdout.lines().count(), 50);
        assert_eq!(
            quiet.stderr,
            "flagpost: … and 10 more: --limit 0 shows all\n"
        );

        let (_, json) = world.json([verb, "--limit", "0"]);
        tells!(json, {"truncated": false, "total": 60});
        assert_eq!(json["tasks"].as_array().unwrap().len(), 60);
        assert_eq!(
            world.flagpost([verb, "--quiet", "--limit", "60"]).stderr,
            ""
        );
        assert_eq!(world.ok([verb, "--limit", "60"]).lines().count(), 1 + 60);
    }
    let status = world.ok(["status"]);
    assert!(status.ends_with("  … and 50 more\n"), "{status}");
    assert_eq!(
        world.json(["status"]).1["ready"].as_array().unwrap().len(),
        60
    );
}
