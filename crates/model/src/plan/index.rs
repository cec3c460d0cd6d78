//! Where in a list a task is, by its id.
//!
//! Owns the lookup that reading a list's dependencies does for every end of every edge. Our ids
//! are small numbers, so most are found in a plain table: hashing them took most of the time.

use std::collections::HashMap;

use crate::id::number;

/// Positions by id. Where two share an id, the first one's.
#[derive(Debug)]
pub struct Index<'o> {
    /// By number, for ids spelled as numbers are printed; others would be told apart by spelling.
    by_number: Vec<Option<u32>>,
    by_text: HashMap<&'o str, u32>,
}

impl<'o> Index<'o> {
    /// Looks up by these ids.
    pub fn new(ids: impl ExactSizeIterator<Item = &'o str>) -> Self {
        let mut index = Self {
            // One absurdly large number in a foreign file must not become an absurdly large table.
            by_number: vec![None; 2 * ids.len() + 64],
            by_text: HashMap::new(),
        };
        for (at, id) in (0..).zip(ids) {
            match slot(id).and_then(|slot| index.by_number.get_mut(slot)) {
                Some(place) => *place = place.or(Some(at)),
                None => drop(index.by_text.entry(id).or_insert(at)),
            }
        }
        index
    }

    /// Where the task of that id is.
    pub fn get(&self, id: &str) -> Option<usize> {
        let place = match slot(id).and_then(|slot| self.by_number.get(slot)) {
            Some(place) => *place,
            None => self.by_text.get(id).copied(),
        };
        usize::try_from(place?).ok()
    }
}

fn slot(id: &str) -> Option<usize> {
    let leading_zero = id.starts_with('0') && id.len() > 1;
    let number = number(id).filter(|_| !leading_zero)?;
    usize::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_large_numbers_and_texts_are_found_by_their_spelling() {
        let names = [
            "7",
            "07",
            "0",
            "00",
            "99999999999999999999",
            "5000",
            "a",
            "7",
        ];
        let index = Index::new(names.iter().copied());
        for (at, name) in names[..7].iter().enumerate() {
            assert_eq!(index.get(name), Some(at), "{name}");
        }
        for name in ["8", "070", "000", "4999", "b"] {
            assert_eq!(index.get(name), None, "{name}");
        }
    }
}
