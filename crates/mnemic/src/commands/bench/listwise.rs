//! Fits the weights of a sum so that what holds the answer comes first.
//!
//! Scores make a distribution over the candidates of a question (softmax), and the weights are those
//! that give most to what holds the answer, over all questions. That is convex: there is one best
//! answer, and Newton's method finds it in a few steps, the same in every run. Weights are factors
//! of those that stand, and are held to 1 as if so many had been seen before: what the questions say
//! nothing about stays as it is.

/// How much straying from 1 costs. Small: the weights that stand were fitted in the same way.
const HELD: f64 = 0.01;
const STEPS_MAX: usize = 50;
/// A step that changes no factor by more than this was the last.
const CLOSE: f64 = 1e-6;
/// How much the scores are stretched before anything is fitted, at most: scores of any scale rank
/// alike, but not all tell the same distribution.
const STRETCH_MAX: f64 = 256.0;

/// The candidates of a question.
#[derive(Debug, Clone, Default)]
pub struct List {
    /// Of each candidate, what each feature adds to its score as the weights stand.
    pub shares: Vec<Vec<f64>>,
    /// Which of them hold the answer.
    pub holds: Vec<bool>,
}

impl List {
    /// The places of the candidates, best first; of equal ones, as they came.
    pub fn ranked(&self, factors: &[f64]) -> Vec<usize> {
        let scores: Vec<_> = self.shares.iter().map(|shares| dot(shares, factors)).collect();
        let mut places: Vec<_> = (0..scores.len()).collect();
        places.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        places
    }

    /// How likely each candidate is to be the answer.
    fn likely(&self, factors: &[f64], stretch: f64) -> Vec<f64> {
        let score = |shares: &Vec<f64>| stretch * dot(shares, factors);
        let scores: Vec<_> = self.shares.iter().map(score).collect();
        let most = scores.iter().copied().fold(f64::MIN, f64::max);
        let shares: Vec<_> = scores.iter().map(|score| (score - most).exp()).collect();
        let sum: f64 = shares.iter().sum();
        shares.into_iter().map(|share| share / sum).collect()
    }

    /// What of the answer each candidate holds, all adding up to 1.
    fn wanted(&self) -> impl Iterator<Item = f64> {
        let count = self.holds.iter().filter(|holds| **holds).count() as f64;
        self.holds.iter().map(move |holds| if *holds { 1.0 / count } else { 0.0 })
    }
}

/// The factors by which each weight should be taken. 1 for what no candidate has.
pub fn fit(lists: &[&List], features: usize) -> Vec<f64> {
    let telling = |list: &&&List| list.holds.contains(&true) && list.holds.contains(&false);
    let lists: Vec<_> = lists.iter().filter(telling).copied().collect();
    let mut factors = vec![1.0; features];
    if lists.is_empty() {
        return factors;
    }
    let problem = Problem { stretch: stretch(&lists, features), lists };
    let mut loss = problem.loss(&factors);
    for _ in 0..STEPS_MAX {
        let Some(step) = problem.step(&factors) else { break };
        let Some((next, less)) = problem.shorten(&factors, &step, loss) else { break };
        let furthest = next.iter().zip(&factors).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        (factors, loss) = (next, less);
        if furthest < CLOSE {
            break;
        }
    }
    factors
}

/// The stretch at which the weights that stand tell most; the fit is then held to these.
fn stretch(lists: &[&List], features: usize) -> f64 {
    let stand = vec![1.0; features];
    let stretches = std::iter::successors(Some(1.0), |it| Some(it * 2_f64.powf(0.25)));
    let stretches = stretches.take_while(|it| *it <= STRETCH_MAX);
    let loss = |stretch: f64| Problem { lists: lists.to_vec(), stretch }.loss(&stand);
    let best = stretches.map(|it| (it, loss(it))).min_by(|a, b| a.1.total_cmp(&b.1));
    best.map_or(1.0, |(stretch, _)| stretch)
}

struct Problem<'a> {
    lists: Vec<&'a List>,
    stretch: f64,
}

impl Problem<'_> {
    /// What is to be made small: how unlikely the answers are, on average, and how far the factors
    /// stray.
    fn loss(&self, factors: &[f64]) -> f64 {
        let unlikely = |list: &&List| {
            let likely = list.likely(factors, self.stretch);
            let logs = likely.iter().map(|it| it.max(f64::MIN_POSITIVE).ln());
            -list.wanted().zip(logs).map(|(wanted, log)| wanted * log).sum::<f64>()
        };
        let strayed: f64 = factors.iter().map(|factor| (factor - 1.0).powi(2)).sum();
        self.lists.iter().map(unlikely).sum::<f64>() / self.lists.len() as f64 + HELD * strayed
    }

    /// Newton's step: to where the loss would be least if it were a parabola.
    fn step(&self, factors: &[f64]) -> Option<Vec<f64>> {
        let size = factors.len();
        let share = self.stretch / self.lists.len() as f64;
        let mut slope: Vec<_> = factors.iter().map(|it| 2.0 * HELD * (it - 1.0)).collect();
        let mut bend = vec![vec![0.0; size]; size];
        for (place, row) in bend.iter_mut().enumerate() {
            row[place] = 2.0 * HELD;
        }
        for list in &self.lists {
            let likely = list.likely(factors, self.stretch);
            let mut mean = vec![0.0; size];
            for ((shares, p), wanted) in list.shares.iter().zip(&likely).zip(list.wanted()) {
                for (place, value) in shares.iter().enumerate() {
                    mean[place] += p * value;
                    slope[place] += share * (p - wanted) * value;
                }
            }
            for (shares, p) in list.shares.iter().zip(&likely) {
                let apart: Vec<_> = shares.iter().zip(&mean).map(|(a, b)| a - b).collect();
                for (row, own) in bend.iter_mut().zip(&apart) {
                    let by = share * self.stretch * p * own;
                    for (sum, other) in row.iter_mut().zip(&apart) {
                        *sum += by * other;
                    }
                }
            }
        }
        solve(bend, slope)
    }

    /// Goes as much of a step as makes the loss less; nothing, where no part of it does.
    fn shorten(&self, factors: &[f64], step: &[f64], loss: f64) -> Option<(Vec<f64>, f64)> {
        let lengths = std::iter::successors(Some(1.0), |length| Some(length / 2.0)).take(20);
        let tried = lengths.map(|length| {
            let next = factors.iter().zip(step).map(|(it, step)| it - length * step);
            let next: Vec<_> = next.collect();
            let loss = self.loss(&next);
            (next, loss)
        });
        tried.into_iter().find(|(_, less)| *less < loss)
    }
}

/// What times the matrix gives the vector, by Gauss's elimination; nothing, where that is not one
/// thing.
fn solve(mut rows: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = right.len();
    for place in 0..size {
        let pivot =
            (place..size).max_by(|a, b| rows[*a][place].abs().total_cmp(&rows[*b][place].abs()))?;
        rows.swap(place, pivot);
        right.swap(place, pivot);
        let (own, value) = (rows[place].clone(), right[place]);
        if own[place].abs() < f64::EPSILON {
            return None;
        }
        for other in (0..size).filter(|other| *other != place) {
            let by = rows[other][place] / own[place];
            for (it, own) in rows[other].iter_mut().zip(&own) {
                *it -= by * own;
            }
            right[other] -= by * value;
        }
    }
    Some((0..size).map(|place| right[place] / rows[place][place]).collect())
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use mnemic_recall::synthetic::Noise;

    use super::*;

    /// Questions whose answer is drawn by scores of these factors, ten candidates each.
    fn drawn(truth: &[f64], count: usize) -> Vec<List> {
        let mut noise = Noise(3);
        let mut draw = || noise.unit();
        let mut list = |_| {
            let shares: Vec<Vec<f64>> =
                (0..10).map(|_| truth.iter().map(|_| 6.0 * draw()).collect()).collect();
            let open = List { shares, holds: vec![false; 10] };
            let (mut left, mut answer) = (draw(), 0);
            for (place, p) in open.likely(truth, 1.0).iter().enumerate() {
                answer = place;
                left -= p;
                if left < 0.0 {
                    break;
                }
            }
            let holds = (0..10).map(|place| place == answer).collect();
            List { holds, ..open }
        };
        (0..count).map(&mut list).collect()
    }

    #[test]
    fn finds_the_weights_that_the_answers_were_drawn_by() {
        let truth = [1.0, 3.0, 0.0];
        let lists = drawn(&truth, 2_000);
        let fitted = fit(&lists.iter().collect::<Vec<_>>(), truth.len());
        // All scales rank alike, so what counts is how the factors relate.
        let [a, b, c] = fitted[..] else { panic!("{fitted:?}") };
        assert!((b / a - 3.0).abs() < 0.4 && (c / b).abs() < 0.05, "{fitted:?}");
        assert_eq!(fitted, fit(&lists.iter().collect::<Vec<_>>(), truth.len()));
    }

    #[test]
    fn what_is_not_told_stays_as_it_stands() {
        let lists = drawn(&[1.0, 3.0], 200);
        let with_nothing = lists.iter().map(|list| {
            let shares = list.shares.iter().map(|it| [it.as_slice(), &[0.0]].concat()).collect();
            List { shares, holds: list.holds.clone() }
        });
        let with_nothing: Vec<_> = with_nothing.collect();
        let fitted = fit(&with_nothing.iter().collect::<Vec<_>>(), 3);
        assert!((fitted[2] - 1.0).abs() < 1e-9, "{fitted:?}");
        let unanswered = List { shares: vec![vec![1.0], vec![2.0]], holds: vec![false; 2] };
        assert_eq!(fit(&[&unanswered], 1), [1.0]);
        assert_eq!(fit(&[], 2), [1.0, 1.0]);
    }

    #[test]
    fn a_fitted_weight_brings_answers_to_the_front() {
        let lists = drawn(&[0.2, 4.0], 300);
        let first = |factors: &[f64]| {
            let right = |list: &&List| list.holds[list.ranked(factors)[0]];
            lists.iter().filter(right).count()
        };
        let fitted = fit(&lists.iter().collect::<Vec<_>>(), 2);
        assert!(first(&fitted) > first(&[1.0, 1.0]) + 30, "{fitted:?}");
    }

    #[test]
    fn equations_are_solved_or_refused() {
        let solved = solve(vec![vec![0.0, 2.0], vec![4.0, 1.0]], vec![2.0, 9.0]).unwrap();
        assert!((solved[0] - 2.0).abs() < 1e-9 && (solved[1] - 1.0).abs() < 1e-9, "{solved:?}");
        assert_eq!(solve(vec![vec![1.0, 1.0], vec![1.0, 1.0]], vec![1.0, 2.0]), None);
    }
}
