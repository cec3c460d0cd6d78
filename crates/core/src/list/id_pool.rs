//! Ids that somebody took ahead, to add many tasks to a list one by one.
//!
//! Owns which of them are left. To take ids is to look at every name in the list's directory and to
//! sync its counter; who adds ten thousand tasks does so once. An id that somebody's file has got
//! meanwhile is passed over. What is left in the end is given to nobody: gaps are legal, reuse is not.

use std::{
    ops::Range,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::error::Result;

/// The ids of one list for what is still to be added to it.
#[derive(Debug, Default)]
pub(crate) struct IdPool(Mutex<IdRange>);

#[derive(Debug, Default)]
struct IdRange {
    /// So many will be asked for.
    wanted: u64,
    left: Range<u64>,
}

impl IdPool {
    /// Says that so many more will be asked for.
    pub(crate) fn expect(&self, count: u64) {
        let mut shelf = self.range();
        shelf.wanted = shelf.wanted.saturating_add(count);
    }

    /// The next ids; `more` takes so many from the list.
    pub(crate) fn take(
        &self,
        count: u64,
        is_free: &dyn Fn(u64) -> Result<bool>,
        more: &dyn Fn(u64) -> Result<Range<u64>>,
    ) -> Result<Vec<u64>> {
        let mut shelf = self.range();
        let mut taken = Vec::new();
        let mut missing = count;
        while missing > 0 {
            match shelf.left.next() {
                None => shelf.left = more(missing.max(shelf.wanted))?,
                Some(id) if is_free(id)? => {
                    taken.push(id);
                    missing -= 1;
                }
                Some(_) => {}
            }
        }
        shelf.wanted = shelf.wanted.saturating_sub(count);
        Ok(taken)
    }

    fn range(&self) -> MutexGuard<'_, IdRange> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn the_list_is_asked_once_for_all_that_are_expected() {
        let asked = RefCell::new(Vec::new());
        let more = |count| {
            let first = 10 + 100 * asked.borrow().len() as u64;
            asked.borrow_mut().push(count);
            Ok(first..first + count)
        };
        let free = |id| Ok(id != 11);
        let stock = IdPool::default();
        stock.expect(4);
        assert_eq!(stock.take(1, &free, &more).unwrap(), [10]);
        assert_eq!(
            stock.take(2, &free, &more).unwrap(),
            [12, 13],
            "11 is taken"
        );
        // More than was expected is asked for when it comes to that.
        assert_eq!(stock.take(1, &free, &more).unwrap(), [110]);
        assert_eq!(*asked.borrow(), [4, 1]);
    }
}
