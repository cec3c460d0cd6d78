//! What an edit keeps, character by character.

use super::*;

fn parse(text: &str) -> Document {
    Document::parse(Path::new("config.toml"), text.as_bytes().to_vec()).unwrap()
}

fn texts(texts: &[&str]) -> SettingValue {
    SettingValue::Texts(texts.iter().map(|&text| text.to_owned()).collect())
}

fn set(text: &str, path: &[&str], value: &SettingValue) -> String {
    let new = parse(text).with(path, value).unwrap();
    assert_eq!(parse(&new).get(path).unwrap().value.as_ref(), Some(value));
    new
}

fn unset(text: &str, path: &[&str]) -> String {
    let new = parse(text).without(path).unwrap();
    assert_eq!(parse(&new).get(path), None);
    new
}

const FILE: &str = "\
# Ann's settings

[claim]
# Our tests take long.
lease = \"20m\" # since May

[run]
  retries=2
# Agents cost money.
max_parallel =  3
";

#[test]
fn a_new_value_stands_where_the_old_one_stood() {
    let new = set(
        FILE,
        &["claim", "lease"],
        &SettingValue::Text("1h".to_owned()),
    );
    assert_eq!(new, FILE.replace("\"20m\"", "\"1h\""));
    let new = set(FILE, &["run", "max_parallel"], &SettingValue::Number(9));
    assert_eq!(new, FILE.replace("=  3", "=  9"));
}

#[test]
fn a_new_name_comes_last_in_its_table_and_a_new_table_last_of_all() {
    let new = set(FILE, &["claim", "extra"], &SettingValue::Number(1));
    let wanted = FILE.replace("# since May\n", "# since May\nextra = 1\n");
    assert_eq!(new, wanted);
    let new = set(
        FILE,
        &["queries", "a.b"],
        &SettingValue::Text("x".to_owned()),
    );
    assert_eq!(new, format!("{FILE}\n[queries]\n\"a.b\" = \"x\"\n"));
    let new = set("# mine\n", &["run", "retries"], &SettingValue::Number(2));
    assert_eq!(new, "# mine\n\n[run]\nretries = 2\n");
    let new = set(
        "[a]\nx = 1\n\n# end\n",
        &["run", "retries"],
        &SettingValue::Number(2),
    );
    assert_eq!(new, "[a]\nx = 1\n\n# end\n\n[run]\nretries = 2\n");
    assert_eq!(
        set(
            "",
            &["run", "agent"],
            &SettingValue::Text("a\n\"b\\".to_owned())
        ),
        "[run]\nagent = '''\na\n\"b\\'''\n"
    );
}

#[test]
fn what_is_taken_out_leaves_its_comments() {
    let new = unset(FILE, &["claim", "lease"]);
    assert_eq!(
        new,
        FILE.replace("lease = \"20m\" # since May", "# since May")
    );
    let new = unset(FILE, &["run", "retries"]);
    assert_eq!(new, FILE.replace("  retries=2\n", ""));
    let new = unset(FILE, &["run", "max_parallel"]);
    assert_eq!(new, FILE.replace("max_parallel =  3\n", ""));
}

#[test]
fn every_spelling_of_a_name_is_edited() {
    let path = &["claim", "lease"];
    let hour = SettingValue::Text("1h".to_owned());
    for (old, new, without) in [
        (
            "claim.lease = '9m' # c\n",
            "claim.lease = \"1h\" # c\n",
            "# c\n",
        ),
        (
            "\"claim\" . 'lease'='9m'",
            "\"claim\" . 'lease'=\"1h\"\n",
            "",
        ),
        (
            "claim = { lease = '9m' }\n",
            "claim = { lease = \"1h\" }\n",
            "claim = {}\n",
        ),
        (
            "claim = { x = 1, lease = '9m' } # c\n",
            "claim = { x = 1, lease = \"1h\" } # c\n",
            "claim = { x = 1} # c\n",
        ),
        (
            "[claim]\r\nlease = '9m'\r\nx=1\r\n",
            "[claim]\r\nlease = \"1h\"\r\nx=1\r\n",
            "[claim]\r\nx=1\r\n",
        ),
        (
            "[claim]\nlease = '''\n9m'''\nx=1\n",
            "[claim]\nlease = \"1h\"\nx=1\n",
            "[claim]\nx=1\n",
        ),
    ] {
        assert_eq!(set(old, path, &hour), new);
        assert_eq!(unset(old, path), without);
    }
}

#[test]
fn comments_within_a_list_survive() {
    let path = &["tasks", "roots"];
    let old = "\
tasks.roots = [
  # Claude's
  '/claude',
  '/srv', # shared
] # c
";
    for (wanted, new) in [
        (
            &["/claude", "/srv", "/new"][..],
            "tasks.roots = [\n  # Claude's\n  '/claude',\n  '/srv', # shared\n  \"/new\",\n] # c\n",
        ),
        (
            &["/srv"],
            "tasks.roots = [\n  '/srv',\n  # Claude's\n   # shared\n] # c\n",
        ),
        (&["/new"], ""),
        (&[], ""),
    ] {
        let got = set(old, path, &texts(wanted));
        for comment in ["# Claude's\n", "# shared\n", "] # c\n"] {
            assert!(got.contains(comment), "{wanted:?}: {got}");
        }
        if !new.is_empty() {
            assert_eq!(got, new);
        }
    }
    for (old, wanted, new) in [
        (
            "tasks.roots = []",
            &["/a", "/b"][..],
            "tasks.roots = [\"/a\", \"/b\"]",
        ),
        (
            "tasks.roots = ['/a']",
            &["/a", "/b"],
            "tasks.roots = ['/a', \"/b\"]",
        ),
        (
            "tasks.roots = [\n  '/a'\n]",
            &["/a", "/b"],
            "tasks.roots = [\n  '/a',\n  \"/b\"\n]",
        ),
        (
            "tasks.roots = ['/a', '/b']",
            &["/a"],
            "tasks.roots = ['/a']",
        ),
        ("tasks.roots = 3 # c", &["/a"], "tasks.roots = [\"/a\"] # c"),
    ] {
        assert_eq!(set(old, path, &texts(wanted)), format!("{new}\n"));
    }
}

#[test]
fn what_stands_in_the_way_is_not_written_over() {
    for old in [
        "claim = 3",
        "claim = [1]",
        "[[claim]]\nlease = '1h'",
        "[claim.lease]\nx = 1",
    ] {
        let path = &["claim", "lease"];
        assert_eq!(
            parse(old).with(path, &SettingValue::Number(1)),
            None,
            "{old}"
        );
        assert_eq!(parse(old).without(path), None, "{old}");
        assert_eq!(parse(old).get(path).unwrap().value, None, "{old}");
    }
}

#[test]
fn a_fault_is_named_by_its_line() {
    for (text, wanted) in [
        (&b"a = 1\nb = [\n"[..], "line 2"),
        (b"a = 1\n\n= 2\n", "line 3"),
        (b"a = 1\na = 2\n", "line 2"),
        (b"a = 1\nb = '\xff'\n", "line 2: not UTF-8"),
        (b"a = 1\n\0\n", "line 2"),
    ] {
        let error = Document::parse(Path::new("config.toml"), text.to_vec()).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(wanted), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn a_table_within_a_table_is_made_where_there_is_none() {
    let put = |text: &str| {
        let document = Document::parse(Path::new("x"), text.into()).unwrap();
        let path = ["integrations", "agent", "enabled"];
        document.with(&path, &SettingValue::Switch(true))
    };
    for (before, after) in [
        ("", "[integrations.agent]\nenabled = true\n"),
        (
            "[run]\nretries = 2\n# the end\n",
            "[run]\nretries = 2\n# the end\n\n[integrations.agent]\nenabled = true\n",
        ),
        (
            "[integrations]\nx = 1\n",
            "[integrations]\nx = 1\n\n[integrations.agent]\nenabled = true\n",
        ),
        (
            "[integrations.agent]\nenabled = false # no\n",
            "[integrations.agent]\nenabled = true # no\n",
        ),
    ] {
        assert_eq!(put(before).as_deref(), Some(after));
    }
    assert_eq!(put("integrations = 5\n"), None);
}
