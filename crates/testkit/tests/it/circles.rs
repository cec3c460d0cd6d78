//! Which modules of a crate know each other in a circle.
//!
//! Owns the circles that there still are: a module leaves its circle for good, and there is no new one. A module is
//! a child of the crate's root with all that is below it. A name that the root passes on is the module's from which
//! it comes. Tests may know whom they like.

use std::collections::{BTreeMap, BTreeSet};

use crate::{assert_none, imports::Place, product, source::Named};

/// The circles, by crate.
const CIRCLES: &[(&str, &[&str])] = &[
    (
        "cli",
        &[
            "args",
            "commands",
            "completions",
            "context",
            "error",
            "groups",
            "output",
            "progress",
            "schemas",
            "screen",
            "text",
        ],
    ),
    (
        "cockpit",
        &[
            "app", "keys", "landing", "palette", "prompt", "rows", "update", "view", "worker",
        ],
    ),
    (
        "core",
        &[
            "answers",
            "change",
            "claims",
            "coordination",
            "doctor",
            "history",
            "index",
            "landing",
            "list",
            "notifications",
            "operations",
            "order",
            "plans",
            "questions",
            "registry",
            "relay",
            "repository",
            "reservations",
            "sessions",
            "shape",
            "tasks",
        ],
    ),
    ("daemon", &["answers", "events", "instance"]),
    ("daemon", &["http", "serve"]),
    ("disk", &["error", "fsx"]),
    ("fleet", &["anew", "share"]),
    (
        "fleet",
        &[
            "bucket",
            "copies",
            "fleet_record",
            "follower",
            "live",
            "stream",
        ],
    ),
    ("fleet", &["connect", "hub"]),
    ("fleet", &["order", "stand"]),
    ("mcp", &["http", "server"]),
    (
        "run",
        &[
            "agent",
            "client",
            "driver",
            "error",
            "landing",
            "leftovers",
            "outcome",
            "process",
            "refusal",
            "worktree",
        ],
    ),
    ("testkit", &["patience", "race"]),
];

/// Whom each module of a crate names.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// The imports of each crate, from the paths that its files name.
fn imports(files: &[(String, Vec<Named>)]) -> BTreeMap<String, Imports> {
    let places = files
        .iter()
        .filter_map(|(path, named)| Some((Place::of(path)?, named)));
    let places: Vec<_> = places.collect();
    let mut crates: BTreeMap<String, Imports> = BTreeMap::new();
    for (place, _) in &places {
        let imports = crates.entry(place.krate.to_owned()).or_default();
        if let Some(module) = place.module.first() {
            imports.entry((*module).to_owned()).or_default();
        }
    }
    // What the root passes on, by name.
    let mut passed: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for (place, named) in places.iter().filter(|(place, _)| place.module.is_empty()) {
        for it in named
            .iter()
            .filter(|it| crates[place.krate].contains_key(&it.path[0]))
        {
            if let Some(name) = it.path.last() {
                passed.insert((place.krate, name), &it.path[0]);
            }
        }
    }
    for (place, named) in &places {
        let Some(&module) = place.module.first() else {
            continue;
        };
        for it in *named {
            let Some(meant) = place.meanings(&it.path).into_iter().next() else {
                continue;
            };
            let Some(first) = meant.first().map(String::as_str) else {
                continue;
            };
            let imports = crates.get_mut(place.krate).expect("its files were read");
            let named = match imports.contains_key(first) {
                true => Some(first),
                false => passed.get(&(place.krate, first)).copied(),
            };
            if let (Some(named), Some(known)) =
                (named.filter(|it| *it != module), imports.get_mut(module))
            {
                known.insert(named.to_owned());
            }
        }
    }
    crates
}

/// The modules that lead back to themselves, each circle with all who are in it.
fn circles(imports: &Imports) -> BTreeSet<Vec<String>> {
    let reach = |from: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            let next = imports.get(at).into_iter().flatten();
            open.extend(next.filter(|it| seen.insert((*it).clone())));
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> =
        imports.keys().map(|it| (it, reach(it))).collect();
    let both = |a: &String, b: &String| reached[a].contains(b) && reached[b].contains(a);
    let circle = |module: &&String| reached[*module].contains(*module);
    let of = |module: &String| {
        imports
            .keys()
            .filter(|it| both(module, it))
            .cloned()
            .collect()
    };
    imports.keys().filter(circle).map(of).collect()
}

/// What is not as the table says.
fn faults(files: &[(String, Vec<Named>)], table: &[(&str, &[&str])]) -> Vec<String> {
    let known: BTreeSet<(String, Vec<String>)> = table
        .iter()
        .map(|(krate, modules)| {
            (
                (*krate).to_owned(),
                modules.iter().map(|it| (*it).to_owned()).collect(),
            )
        })
        .collect();
    let found: BTreeSet<(String, Vec<String>)> = imports(files)
        .into_iter()
        .flat_map(|(krate, imports)| {
            circles(&imports)
                .into_iter()
                .map(move |it| (krate.clone(), it))
        })
        .collect();
    let new = found.difference(&known).map(|(krate, modules)| {
        format!("modules of {krate} know each other in a circle: {modules:?}")
    });
    let gone = known
        .difference(&found)
        .map(|(krate, modules)| format!("the circle of {krate} is another one now: {modules:?}"));
    new.chain(gone).collect()
}

#[test]
fn no_module_comes_into_a_circle() {
    assert_none("circles of modules", &faults(&product::paths(), CIRCLES));
}

#[test]
fn a_circle_is_caught_and_a_table_that_tells_of_one_that_is_gone() {
    let file = |name: &str, named: &[&str]| {
        let path = |it: &&str| it.split("::").map(str::to_owned).collect();
        let named = named.iter().map(|it| Named {
            line: 1,
            path: path(it),
        });
        (format!("crates/x/src/{name}.rs"), named.collect())
    };
    let files = [
        file("lib", &["a::A"]),
        file("a", &["crate::b::B"]),
        file("b/c", &["super::d", "crate::A"]),
        file("e", &["super::a", "std::fs"]),
    ];
    assert_eq!(faults(&files, &[("x", &["a", "b"])]), [""; 0]);
    assert_eq!(faults(&files, &[]).len(), 1);
    assert_eq!(faults(&files[..2], &[("x", &["a", "b"])]).len(), 1);
}
