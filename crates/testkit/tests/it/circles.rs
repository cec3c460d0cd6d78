//! Which modules of a crate know each other in a circle.
//!
//! Owns that there is none. A module is a child of the crate's root with all that is below it. A name that the root
//! passes on is the module's from which it comes. Tests may know whom they like.

use std::collections::{BTreeMap, BTreeSet};

use crate::{assert_none, imports::Place, product, source::Named};

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

/// The circles of all crates, in words.
fn faults(files: &[(String, Vec<Named>)]) -> Vec<String> {
    let each = imports(files).into_iter().flat_map(|(krate, imports)| {
        let circles = circles(&imports).into_iter();
        circles.map(move |it| format!("modules of {krate} know each other in a circle: {it:?}"))
    });
    each.collect()
}

#[test]
fn no_modules_know_each_other_in_a_circle() {
    assert_none("circles of modules", &faults(&product::paths()));
}

#[test]
fn a_circle_is_caught_by_whichever_name_one_knows_the_other() {
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
    let circle = r#"modules of x know each other in a circle: ["a", "b"]"#;
    assert_eq!(faults(&files), [circle]);
    assert_eq!(faults(&files[..2]), [""; 0]);
}
