//! Where in a list a task is, by its id.
//!
//! Owns the lookup that reading a list's dependencies does for every end of every edge. Our ids
//! are small numbers, so most are found in a plain table: hashing them took most of the time.

use std::collections::HashMap;

use crate::{id::TaskId, task::Outline};

/// Positions by id. Where two outlines share an id, the first one's.
#[derive(Debug)]
pub struct Index<'o> {
    /// By number, for ids spelled as numbers are printed; others would be told apart by spelling.
    by_number: Vec<Option<usize>>,
    by_text: HashMap<&'o TaskId, usize>,
}

impl<'o> Index<'o> {
    /// Looks up by the ids of these.
    pub fn new(outlines: &'o [Outline]) -> Self {
        let mut index = Self {
            // One absurdly large number in a foreign file must not become an absurdly large table.
            by_number: vec![None; 2 * outlines.len() + 64],
            by_text: HashMap::new(),
        };
        for (at, outline) in outlines.iter().enumerate() {
            match slot(&outline.id).and_then(|slot| index.by_number.get_mut(slot)) {
                Some(place) => *place = place.or(Some(at)),
                None => drop(index.by_text.entry(&outline.id).or_insert(at)),
            }
        }
        index
    }

    /// Where the task of that id is.
    pub fn get(&self, id: &TaskId) -> Option<usize> {
        match slot(id).and_then(|slot| self.by_number.get(slot)) {
            Some(place) => *place,
            None => self.by_text.get(id).copied(),
        }
    }
}

fn slot(id: &TaskId) -> Option<usize> {
    let leading_zero = id.as_str().starts_with('0') && id.as_str().len() > 1;
    let number = id.number().filter(|_| !leading_zero)?;
    usize::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Task;

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
        let outlines: Vec<Outline> = names
            .iter()
            .map(|name| Outline::from(&Task::new(name.parse().unwrap(), "")))
            .collect();
        let index = Index::new(&outlines);
        for (at, name) in names[..7].iter().enumerate() {
            assert_eq!(index.get(&name.parse().unwrap()), Some(at), "{name}");
        }
        for name in ["8", "070", "000", "4999", "b"] {
            assert_eq!(index.get(&name.parse().unwrap()), None, "{name}");
        }
    }
}
