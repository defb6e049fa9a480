//! A series that never grows beyond a limit: when it is full, neighbours become one, and so does what follows. It is half
//! as fine then, from its start to its end.

/// What can become one with what follows it.
pub(crate) trait Merge {
    /// Takes in the following one.
    fn merge(&mut self, next: Self);
}

/// See above.
#[derive(Debug, Clone)]
pub(crate) struct Thinned<T> {
    items: Vec<T>,
    /// Even, so that pairs are whole.
    most: usize,
    /// How many were made one in each item, and how many are in the last.
    each: u64,
    in_last: u64,
    /// How many were appended.
    count: u64,
}

impl<T: Merge> Thinned<T> {
    /// A series of about this length at most.
    pub(crate) fn new(most: usize) -> Self {
        let most = most.max(2).next_multiple_of(2);
        Self { items: Vec::new(), most, each: 1, in_last: 1, count: 0 }
    }

    /// Appends one.
    pub(crate) fn push(&mut self, item: T) {
        self.count += 1;
        if self.in_last == self.each && self.items.len() == self.most {
            self.thin();
        }
        match self.items.last_mut().filter(|_| self.in_last < self.each) {
            Some(last) => {
                last.merge(item);
                self.in_last += 1;
            }
            None => {
                self.items.push(item);
                self.in_last = 1;
            }
        }
    }

    fn thin(&mut self) {
        let mut items = std::mem::take(&mut self.items).into_iter();
        while let (Some(mut item), Some(next)) = (items.next(), items.next()) {
            item.merge(next);
            self.items.push(item);
        }
        self.each *= 2;
        self.in_last = self.each;
    }

    /// The items, in their order.
    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    /// The items from the first that can still change.
    pub(crate) fn complete(&self) -> usize {
        self.items.len() - usize::from(self.in_last < self.each)
    }

    /// The last one.
    pub(crate) fn last_mut(&mut self) -> Option<&mut T> {
        self.items.last_mut()
    }

    /// How many are one in each item: who has seen the items at another time has seen others.
    pub(crate) fn each(&self) -> u64 {
        self.each
    }

    /// How many were appended.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Merge for u64 {
        fn merge(&mut self, next: Self) {
            *self += next;
        }
    }

    #[test]
    fn it_keeps_the_whole_and_is_equally_fine_everywhere() {
        let mut series = Thinned::new(5);
        for number in 1..=1000u64 {
            series.push(1);
            let items = series.items();
            assert!(items.len() <= 6);
            assert_eq!(items.iter().sum::<u64>(), number);
            let complete = &items[..series.complete()];
            assert!(complete.iter().all(|item| *item == series.each()), "{series:?}");
        }
        assert_eq!((series.each(), series.items().len(), series.count()), (256, 4, 1000));
    }
}
