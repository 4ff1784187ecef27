//! Plain bit sets over slots, as slices of 64-bit words.

/// The words needed for `bits` bits.
pub(crate) const fn words_for(bits: usize) -> usize {
    bits.div_ceil(64)
}

pub(crate) fn get(words: &[u64], slot: u32) -> bool {
    words.get(slot as usize / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
}

/// Sets a bit, growing the set as needed. Returns whether it was clear before.
pub(crate) fn set(words: &mut Vec<u64>, slot: u32) -> bool {
    let index = slot as usize / 64;
    if index >= words.len() {
        words.resize(index + 1, 0);
    }
    let before = words[index];
    words[index] |= 1 << (slot % 64);
    words[index] != before
}

/// Clears a bit. Returns whether it was set before.
pub(crate) fn clear(words: &mut [u64], slot: u32) -> bool {
    let Some(word) = words.get_mut(slot as usize / 64) else { return false };
    let before = *word;
    *word &= !(1 << (slot % 64));
    *word != before
}

/// Clears every bit from `len` on, so that a set never names a slot that does not exist.
pub(crate) fn truncate(words: &mut Vec<u64>, len: usize) {
    words.truncate(words_for(len));
    if !len.is_multiple_of(64)
        && let Some(last) = words.get_mut(len / 64)
    {
        *last &= (1 << (len % 64)) - 1;
    }
}

/// All of the first `len` bits.
pub(crate) fn ones(len: usize) -> Vec<u64> {
    let mut words = vec![u64::MAX; words_for(len)];
    truncate(&mut words, len);
    words
}

pub(crate) fn count(words: &[u64]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

/// The positions of the set bits of one word.
pub(crate) fn positions(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let position = word.trailing_zeros();
            word &= word - 1;
            position
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_clears_and_truncates() {
        let mut words = Vec::new();
        assert!(set(&mut words, 70));
        assert!(!set(&mut words, 70));
        assert!(get(&words, 70) && !get(&words, 71) && !get(&words, 7000));
        assert!(clear(&mut words, 70) && !clear(&mut words, 70) && !clear(&mut words, 7000));
        let mut all = ones(130);
        assert_eq!(count(&all), 130);
        truncate(&mut all, 65);
        assert_eq!(count(&all), 65);
        assert_eq!(positions(0b1010).collect::<Vec<_>>(), [1, 3]);
    }
}
