//! The block in every kind of text: tables for what can be seen, properties for what must hold.

use proptest::prelude::*;

use super::*;

const OLD: MarkedBlock<'_> = MarkedBlock {
    version: 1,
    body: "old\n",
};
const NEW: MarkedBlock<'_> = MarkedBlock {
    version: 2,
    body: "one\n\ntwo\n",
};

fn put(block: MarkedBlock<'_>, text: &str) -> String {
    String::from_utf8(block.insert(Some(text.as_bytes())).unwrap()).unwrap()
}

fn taken(text: &str) -> Removed {
    remove(text.as_bytes()).unwrap()
}

fn text(text: &str) -> Removed {
    Removed::Text(text.as_bytes().to_owned())
}

fn standing(text: &str) -> Result<BlockStatus, MarkerError> {
    NEW.standing(text.as_bytes())
}

#[test]
fn it_stands_behind_the_text_and_an_empty_line() {
    let sum = checksum(NEW.body.as_bytes());
    let block = format!("<!-- flagpost:begin v2 {sum:08x} -->\none\n\ntwo\n<!-- flagpost:end -->");
    let windows = block.replace('\n', "\r\n");
    for (before, wanted) in [
        ("# Mine\n", format!("# Mine\n\n{block}\n")),
        ("# Mine", format!("# Mine\n\n{block}")),
        ("# Mine\n\n", format!("# Mine\n\n\n{block}\n")),
        ("", format!("\n{block}\n")),
        ("\u{feff}", format!("\u{feff}\n{block}\n")),
        ("\u{feff}a\n", format!("\u{feff}a\n\n{block}\n")),
        ("a\r\nb\r\n", format!("a\r\nb\r\n\r\n{windows}\r\n")),
        ("a\r\nb", format!("a\r\nb\r\n\r\n{windows}")),
    ] {
        assert_eq!(put(NEW, before), wanted, "{before:?}");
    }
    let alone = NEW.insert(None).unwrap();
    assert_eq!(alone, format!("{block}\n").as_bytes());
    assert_eq!(remove(&alone), Ok(Removed::Everything));
}

#[test]
fn an_old_one_is_replaced_where_it_stands() {
    for around in ["a\n{}\nb\n", "a\n\n{}", "{}\n", "\r\n{}\r\nb"] {
        let ending = if around.contains('\r') { "\r\n" } else { "\n" };
        let [old, new] = [OLD, NEW].map(|block| {
            let block = String::from_utf8(block.written(ending.as_bytes())).unwrap();
            around.replace("{}", &block)
        });
        assert_eq!(standing(&old), Ok(BlockStatus::Outdated { version: 1 }));
        assert_eq!(put(NEW, &old), new);
        assert_eq!(standing(&new), Ok(BlockStatus::Current));
    }
}

#[test]
fn a_newer_one_and_an_edited_one_are_left_alone() {
    let newer = put(NEW, "a\n");
    assert_eq!(
        OLD.standing(newer.as_bytes()),
        Ok(BlockStatus::Newer { version: 2 })
    );
    assert_eq!(put(OLD, &newer), newer);
    for edited in [
        newer.replace("two", "three"),
        newer.replace("two\n", "two\n\nmine\n"),
        newer.replace("one\n", ""),
        "a\n\n<!-- flagpost:begin v2 -->\nby hand\n<!-- flagpost:end -->\n".to_owned(),
    ] {
        assert_eq!(standing(&edited), Ok(BlockStatus::Edited { line: 3 }));
        assert_eq!(put(NEW, &edited), edited);
        assert_eq!(taken(&edited), Removed::Edited { line: 3 });
    }
}

#[test]
fn git_may_turn_the_line_breaks() {
    let turned = put(NEW, "a\n").replace('\n', "\r\n");
    assert_eq!(standing(&turned), Ok(BlockStatus::Current));
    assert_eq!(taken(&turned), text("a\r\n"));
}

#[test]
fn what_has_no_clear_place_is_refused() {
    let block = put(NEW, "");
    let begin = block.lines().nth(1).unwrap();
    let end = "<!-- flagpost:end -->";
    for (muddled, why) in [
        (
            format!("{block}{block}"),
            MarkerError::Two {
                first: 2,
                second: 8,
            },
        ),
        (
            format!("{begin}\n{begin}\n{end}\n"),
            MarkerError::Two {
                first: 1,
                second: 2,
            },
        ),
        (format!("a\n{begin}\nb\n"), MarkerError::NoEnd { line: 2 }),
        (format!("a\n{end}\n"), MarkerError::NoBegin { line: 2 }),
        (format!("{block}{end}\n"), MarkerError::NoBegin { line: 7 }),
        (
            block.replace("v2 ", "v2 x "),
            MarkerError::BadMarker { line: 2 },
        ),
        (
            block.replace("begin v2", "begin"),
            MarkerError::BadMarker { line: 2 },
        ),
        (
            block.replace(end, &format!("{end} mine")),
            MarkerError::BadMarker { line: 6 },
        ),
        (
            block.replace(begin, &format!("{begin} mine")),
            MarkerError::BadMarker { line: 2 },
        ),
    ] {
        assert_eq!(standing(&muddled), Err(why.clone()), "{muddled}");
        assert_eq!(NEW.insert(Some(muddled.as_bytes())), Err(why.clone()));
        assert_eq!(remove(muddled.as_bytes()), Err(why));
    }
    for wide in [b"\xff\xfea\0", b"\xfe\xff\0a"] {
        assert_eq!(NEW.standing(wide), Ok(BlockStatus::Missing));
        assert_eq!(NEW.insert(Some(wide)), Err(MarkerError::Utf16));
    }
}

#[test]
fn words_about_it_are_not_it() {
    for plain in [
        "see `<!-- flagpost:begin v1 -->`\n",
        "x <!-- flagpost:end -->\n",
        "flagpost:begin\n",
    ] {
        assert_eq!(standing(plain), Ok(BlockStatus::Missing), "{plain}");
        assert_eq!(taken(plain), Removed::Nothing);
        assert_eq!(taken(&put(NEW, plain)), text(plain));
    }
}

#[test]
fn what_was_written_around_it_since_stays() {
    let block = String::from_utf8(NEW.written(b"\n")).unwrap();
    for (with, without) in [
        ("a\n\n{}\n\nb\n", "a\n\nb\n"),
        ("a\n\n{}\nb\n", "a\n\nb\n"),
        ("a\n{}\nb\n", "a\nb\n"),
        ("{}\n\nb\n", "\nb\n"),
        ("a\n{}\n", "a\n"),
        ("a\n{}", "a\n"),
        ("  {}  \nb", "b"),
    ] {
        assert_eq!(
            taken(&with.replace("{}", &block)),
            text(without),
            "{with:?}"
        );
    }
}

/// Texts as people and programs leave them: any bytes, rich in line breaks and marks.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &[&[u8]] = &[
        b"\n",
        b"\r\n",
        b"\r",
        b"\xef\xbb\xbf",
        b"\xff",
        b"# Title",
        b"  ",
        b"\xc3\xa4",
        b"<!-- flagpost",
        b"-->",
        b"\0",
    ];
    let piece = prop::sample::select(PIECES);
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn inserting_twice_is_inserting_once(text in texts()) {
        prop_assume!(NEW.standing(&text) == Ok(BlockStatus::Missing));
        let once = NEW.insert(Some(&text)).unwrap();
        prop_assert_eq!(NEW.insert(Some(&once)).unwrap(), once.clone());
        prop_assert_eq!(NEW.standing(&once), Ok(BlockStatus::Current));
    }

    #[test]
    fn removing_what_was_inserted_gives_the_text_back(text in texts()) {
        prop_assume!(NEW.standing(&text) == Ok(BlockStatus::Missing));
        let with = NEW.insert(Some(&text)).unwrap();
        prop_assert_eq!(remove(&with), Ok(Removed::Text(text.clone())));
        // Also where an older version was written and brought up to date since.
        let old = OLD.insert(Some(&text)).unwrap();
        let newer = NEW.insert(Some(&old)).unwrap();
        prop_assert_eq!(remove(&newer), Ok(Removed::Text(text)));
    }

    #[test]
    fn the_text_is_kept_byte_for_byte_around_it(before in texts(), after in texts()) {
        let ending = ending_of(&before);
        let block = |block: MarkedBlock<'_>| {
            [&before[..], b"\n", &block.written(ending), b"\n", &after].concat()
        };
        let text = block(OLD);
        prop_assume!(NEW.standing(&text).is_ok());
        prop_assert_eq!(NEW.insert(Some(&text)).unwrap(), block(NEW));
        let Ok(Removed::Text(rest)) = remove(&text) else {
            panic!("it was there");
        };
        let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let words = |bytes: &[u8]| bytes.iter().filter(|b| !is_break(b)).copied().collect::<Vec<_>>();
        prop_assert!(rest.ends_with(&after));
        prop_assert_eq!(words(&rest), words(&[&before[..], &after].concat()));
        prop_assert!(rest.len() + 2 * ending.len() >= before.len() + after.len());
    }
}
