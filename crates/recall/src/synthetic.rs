//! Made-up texts and vectors that behave like real ones, the same on every run: for benches.

#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap)]

/// A generator of numbers (splitmix64), seeded by its value.
#[derive(Debug, Clone)]
pub struct Noise(pub u64);

impl Noise {
    #[expect(clippy::should_implement_trait, reason = "it never ends, so it is no iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Close enough to a normal distribution: the sum of four uniform ones.
    pub fn gaussian(&mut self) -> f32 {
        let bits = self.next();
        let sum: i32 = (0..4).map(|n| (bits >> (16 * n) & 0xffff) as i32 - 0x8000).sum();
        sum as f32 / 37_837.0
    }
}

/// Words by Zipf's law with an open vocabulary, about as rich as English notes.
#[derive(Debug)]
pub struct Texts {
    common: Vec<String>,
}

const STOP: &[&str] = &["the", "of", "and", "to", "a", "in", "is", "that", "for", "it"];
const VOCABULARY: f64 = 200_000.0;

impl Default for Texts {
    fn default() -> Self {
        Self { common: (0..50_000).map(spell).collect() }
    }
}

impl Texts {
    pub fn text(&self, words: usize, noise: &mut Noise) -> String {
        let mut text = String::with_capacity(words * 8);
        for n in 0..words {
            if n > 0 {
                text.push(if noise.below(12) == 0 { '\n' } else { ' ' });
            }
            // Two words in five of English are stop words.
            if noise.below(5) < 2 {
                text.push_str(STOP[noise.below(STOP.len() as u64) as usize]);
            } else {
                self.push_word(zipf(VOCABULARY, noise), &mut text);
            }
        }
        text
    }

    /// Query words are rarer than the words of texts, but do occur.
    pub fn query(&self, words: usize, noise: &mut Noise) -> String {
        let mut text = String::from("what is");
        for _ in 0..words {
            text.push(' ');
            self.push_word(zipf(20_000.0, noise), &mut text);
        }
        text
    }

    fn push_word(&self, rank: usize, text: &mut String) {
        match self.common.get(rank) {
            Some(word) => text.push_str(word),
            None => text.push_str(&spell(rank)),
        }
    }
}

/// A rank with probability proportional to 1 / rank, roughly.
fn zipf(limit: f64, noise: &mut Noise) -> usize {
    // The offset flattens the head, whose place the stop words have taken.
    let offset = 10.0_f64;
    (offset * ((limit + offset) / offset).powf(noise.unit()) - offset) as usize
}

fn spell(rank: usize) -> String {
    const SYLLABLES: [&str; 32] = [
        "ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu", "dar", "fen", "gil", "hop",
        "jun", "kal", "lem", "min", "nor", "pul", "ram", "sel", "tin", "vor", "wex", "yal", "bri",
        "cro", "dre", "fla", "gru", "sto",
    ];
    let mut word = String::new();
    let mut rest = rank + 32;
    while rest > 0 {
        word.push_str(SYLLABLES[rest % 32]);
        rest /= 32;
    }
    word
}

/// Unit vectors around common centres, or all over the place.
#[derive(Debug)]
pub struct Vectors {
    dimensions: usize,
    centres: Vec<Vec<f32>>,
}

impl Vectors {
    pub fn new(dimensions: usize, clustered: bool, noise: &mut Noise) -> Self {
        // A shared offset: the vectors of a real model do not centre on zero.
        let offset: Vec<f32> = (0..dimensions).map(|_| 0.5 * noise.gaussian()).collect();
        let centre = |noise: &mut Noise| offset.iter().map(|o| o + noise.gaussian()).collect();
        let centres =
            if clustered { (0..1000).map(|_| centre(noise)).collect() } else { Vec::new() };
        Self { dimensions, centres }
    }

    pub fn next(&mut self, noise: &mut Noise) -> Vec<f32> {
        let mut vector: Vec<f32> = if self.centres.is_empty() {
            (0..self.dimensions).map(|_| noise.gaussian()).collect()
        } else {
            let centre = &self.centres[noise.below(self.centres.len() as u64) as usize];
            centre.iter().map(|c| c + 0.7 * noise.gaussian()).collect()
        };
        let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
        for value in &mut vector {
            *value /= length;
        }
        vector
    }
}
