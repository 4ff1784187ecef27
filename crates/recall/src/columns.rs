//! The numbers of all documents, one column each, for range filters.
//!
//! Columns are scanned, not indexed: at ten gigabytes a second that is cheap. A minimum and a
//! maximum for each 64 rows (one word of the result) spare most of the scan where the numbers are
//! ordered by time or all alike, as they mostly are.

use crate::bits;

#[derive(Debug, Default)]
pub(crate) struct Column {
    values: Vec<i64>,
    /// Never narrower than the values of its 64 rows; possibly wider after a change.
    zones: Vec<(i64, i64)>,
}

/// With this many bits left in a word, looking at each is cheaper than comparing all 64 rows.
const FEW: u32 = 6;

impl Column {
    /// Writes the value of a slot that exists or is the next one.
    pub(crate) fn put(&mut self, slot: u32, value: i64) {
        let index = slot as usize;
        if index == self.values.len() {
            if self.values.len() == self.values.capacity() {
                self.values.reserve_exact(self.values.len() / 8 + 16);
            }
            self.values.push(value);
        } else {
            self.values[index] = value;
        }
        match self.zones.get_mut(index / 64) {
            Some((min, max)) => {
                *min = (*min).min(value);
                *max = (*max).max(value);
            }
            None => self.zones.push((value, value)),
        }
    }

    pub(crate) fn get(&self, slot: u32) -> i64 {
        self.values[slot as usize]
    }

    /// Drops the last slot.
    pub(crate) fn pop(&mut self) {
        self.values.pop();
        self.zones.truncate(bits::words_for(self.values.len()));
    }

    /// Keeps only those bits whose value lies within `min..=max`.
    pub(crate) fn keep_range(&self, min: i64, max: i64, words: &mut [u64]) {
        for ((word, zone), rows) in words.iter_mut().zip(&self.zones).zip(self.values.chunks(64)) {
            if *word == 0 || (min <= zone.0 && zone.1 <= max) {
                continue;
            }
            if zone.1 < min || max < zone.0 {
                *word = 0;
            } else if word.count_ones() <= FEW {
                for bit in bits::positions(*word) {
                    if !(min..=max).contains(&rows[bit as usize]) {
                        *word &= !(1 << bit);
                    }
                }
            } else {
                let mut inside = 0;
                for (bit, value) in rows.iter().enumerate() {
                    inside |= u64::from(min <= *value && *value <= max) << bit;
                }
                *word &= inside;
            }
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.values.capacity() * 8 + self.zones.capacity() * 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_is_in_range_after_changes() {
        let mut column = Column::default();
        for slot in 0..1000_u32 {
            column.put(slot, i64::from(slot % 97));
        }
        for slot in (0..1000).step_by(3) {
            column.put(slot, i64::MAX);
        }
        for _ in 0..10 {
            column.pop();
        }
        for (min, max) in [(10, 20), (i64::MAX, i64::MAX), (5, 4), (i64::MIN, i64::MAX), (0, 96)] {
            for thin in [u64::MAX, 0x0100_0000_0010_0001] {
                let mut words: Vec<u64> = bits::ones(990).iter().map(|word| word & thin).collect();
                let before = words.clone();
                column.keep_range(min, max, &mut words);
                for slot in 0..990 {
                    let expected =
                        bits::get(&before, slot) && (min..=max).contains(&column.get(slot));
                    assert_eq!(bits::get(&words, slot), expected, "{slot} {min} {max}");
                }
            }
        }
    }
}
