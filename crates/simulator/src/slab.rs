//! Values in reusable slots, so that only outstanding values use memory.

/// Values by slot number.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    places: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Adds a value; returns its number.
    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = value;
                place
            }
            None => {
                self.places.push(value);
                self.places.len() as u32 - 1
            }
        }
    }

    /// Frees the slot for reuse.
    #[inline]
    pub(crate) fn free(&mut self, place: u32) {
        self.free.push(place);
    }

    /// All slots, used or not.
    pub(crate) fn places_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut()
    }

    /// Number of values in use, for tests that nothing is left.
    #[cfg(test)]
    pub(crate) fn in_use(&self) -> usize {
        self.places.len() - self.free.len()
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;

    #[inline]
    fn index(&self, place: u32) -> &T {
        &self.places[place as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, place: u32) -> &mut T {
        &mut self.places[place as usize]
    }
}
