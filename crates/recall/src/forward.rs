//! What each slot was indexed under: its tags and terms.
//!
//! Removing a document must take it out of exactly the lists it is in, so that every count stays
//! true. Records are packed 64 to a page, which keeps them at a few bytes more than their content
//! while a change moves a few kilobytes at most.

use crate::interner::ALLOCATION;

#[derive(Debug, Default)]
pub(crate) struct Forward {
    pages: Vec<Page>,
    len: usize,
    data_bytes: usize,
}

#[derive(Debug)]
struct Page {
    ends: [u32; PAGE],
    data: Vec<u8>,
}

const PAGE: usize = 64;

/// The ids under which a slot was indexed, each list ascending.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) tags: Vec<u32>,
    pub(crate) terms: Vec<u32>,
}

impl Forward {
    /// Writes the record of a slot that exists or is the next one. Both lists must be ascending.
    pub(crate) fn put(&mut self, slot: u32, tags: &[u32], terms: impl Iterator<Item = u32>) {
        let mut record = Vec::with_capacity(96);
        write_varint(&mut record, u32::try_from(tags.len()).unwrap_or(u32::MAX));
        write_ascending(&mut record, tags.iter().copied());
        write_ascending(&mut record, terms);
        if slot as usize == self.len {
            self.len += 1;
            if self.len.div_ceil(PAGE) > self.pages.len() {
                self.pages.push(Page { ends: [0; PAGE], data: Vec::new() });
            }
        }
        self.replace(slot, &record);
    }

    pub(crate) fn get(&self, slot: u32) -> Record {
        let page = &self.pages[slot as usize / PAGE];
        let (start, end) = page.span(slot as usize % PAGE);
        let mut bytes = &page.data[start..end];
        let tags = read_varint(&mut bytes) as usize;
        let mut record = Record::default();
        read_ascending(&mut bytes, tags, &mut record.tags);
        read_ascending(&mut bytes, usize::MAX, &mut record.terms);
        record
    }

    /// Drops the last slot.
    pub(crate) fn pop(&mut self) {
        if let Some(last) = self.len.checked_sub(1) {
            self.replace(u32::try_from(last).unwrap_or(u32::MAX), &[]);
            self.len = last;
            if last.div_ceil(PAGE) < self.pages.len()
                && let Some(page) = self.pages.pop()
            {
                self.data_bytes -= page.data.capacity();
            }
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.pages.capacity() * size_of::<Page>() + self.pages.len() * ALLOCATION + self.data_bytes
    }

    fn replace(&mut self, slot: u32, record: &[u8]) {
        let page = &mut self.pages[slot as usize / PAGE];
        let before = page.data.capacity();
        page.replace(slot as usize % PAGE, record);
        self.data_bytes = self.data_bytes + page.data.capacity() - before;
    }
}

impl Page {
    fn span(&self, index: usize) -> (usize, usize) {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        (start as usize, self.ends[index] as usize)
    }

    fn replace(&mut self, index: usize, record: &[u8]) {
        let (start, end) = self.span(index);
        let need = self.data.len() - (end - start) + record.len();
        if need > self.data.capacity() {
            // A page that fills in order is reserved from the size of what it has so far, so that
            // it neither reallocates 64 times nor ends up half empty.
            let full = need * PAGE / (index + 1);
            let target = if index < 8 { need + need / 2 } else { full.min(need + need / 4) + 16 };
            self.data.reserve_exact(target.max(need) - self.data.len());
        }
        if start == self.data.len() {
            self.data.extend_from_slice(record);
        } else {
            self.data.splice(start..end, record.iter().copied());
        }
        if self.data.capacity() > 4 * self.data.len() + 64 {
            self.data.shrink_to_fit();
        }
        let (old, new) = (fit(end - start), fit(record.len()));
        for end in &mut self.ends[index..] {
            *end = *end - old + new;
        }
    }
}

fn fit(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn write_ascending(out: &mut Vec<u8>, ids: impl Iterator<Item = u32>) {
    let mut previous = 0;
    for id in ids {
        write_varint(out, id - previous);
        previous = id;
    }
}

fn read_ascending(bytes: &mut &[u8], count: usize, out: &mut Vec<u32>) {
    let mut previous = 0;
    while out.len() < count && !bytes.is_empty() {
        previous += read_varint(bytes);
        out.push(previous);
    }
}

fn write_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

fn read_varint(bytes: &mut &[u8]) -> u32 {
    let (mut value, mut shift) = (0, 0);
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        value |= u32::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 || shift > 28 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_records_through_replacement_and_removal() {
        let mut forward = Forward::default();
        let mut plain: Vec<Record> = Vec::new();
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 4
        };
        for _ in 0..5000 {
            if next() % 4 == 0 && !plain.is_empty() {
                forward.pop();
                plain.pop();
                continue;
            }
            let slot = next() as usize % (plain.len() + 1);
            let slot = if next() % 2 == 0 { plain.len() } else { slot };
            let mut record = Record::default();
            for _ in 0..next() % 4 {
                record.tags.push(next());
            }
            for _ in 0..next() % 40 {
                record.terms.push(next());
            }
            record.tags.sort_unstable();
            record.terms.sort_unstable();
            forward.put(fit(slot), &record.tags, record.terms.iter().copied());
            if slot == plain.len() {
                plain.push(record);
            } else {
                plain[slot] = record;
            }
        }
        for (slot, record) in plain.iter().enumerate() {
            assert_eq!(&forward.get(fit(slot)), record);
        }
    }
}
