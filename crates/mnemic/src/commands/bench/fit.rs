//! Fits the weights of turns anew to talks whose answers are known, and tells how well they then do
//! on talks that they were not fitted to.
//!
//! Each question is asked once, as the weights stand, and every candidate that comes back says what
//! each feature added. Other weights are other sums of the same shares. Which candidates there are,
//! and which of them are weighed by their pieces, stays as it is.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail};
use mnemic_core::recall::{Bundle, Feature, LIMIT_MAX, weights};

use super::lab::{ID, Lab};
use super::listwise::{List, fit};
use super::locomo::{Data, MULTI_HOP, promised};
use super::report::{Report, Row, Table};
use super::score::{Scores, evidence};
use super::{FitArgs, SearchArgs};
use crate::config::CommonArgs;
use crate::output;

const FEATURES: &[Feature] = Feature::OF_TURNS;
const CUTS: [usize; 1] = [10];
const MEASURES: [&str; 3] = ["frac@10", "any@10", "all@10"];

/// A question, and everything that was weighed for it.
struct Asked {
    conversation: String,
    category: &'static str,
    gold: Vec<String>,
    ids: Vec<String>,
    list: List,
}

pub async fn run(common: &CommonArgs, args: &FitArgs) -> Result<Report> {
    let data = Data::read(&args.data)?;
    let asked = ask(common, &args.search, &data).await?;
    let folds = folds(&asked)?;
    let fitted = level(fit_to(asked.iter()), &args.search);
    let mut report = Report::new("fit", data.subject());
    tell(&asked, &folds, &args.search, &mut report);
    for (folder, place) in args.also.iter().zip(1..) {
        let dir = args.search.dir.as_ref().map(|dir| dir.join(format!("also-{place}")));
        let search = SearchArgs { dir, techniques: args.search.techniques.clone() };
        let others = ask(common, &search, &Data::read(folder)?).await?;
        tell_also(folder, &others, &fitted, &mut report);
    }
    report.table(factors(&asked, &folds, &fitted));
    report.listing("the weights, for core/src/recall/weights.rs", listing(&fitted, &args.search));
    Ok(report)
}

/// Asks every question that has an answer.
async fn ask(common: &CommonArgs, search: &SearchArgs, data: &Data) -> Result<Vec<Asked>> {
    let lab = Lab::new(common, search, true)?;
    let opened = lab.stage.open().await?;
    data.store(&lab, &opened).await?;
    output::note("Asking");
    let mut asked = Vec::new();
    for (question, category) in data.scored() {
        let bundle = opened.recall(&question.request(&lab, LIMIT_MAX)).await?;
        let gold = question.gold_audited.clone();
        let (ids, list) = candidates(&bundle, &gold);
        let conversation = question.conv.clone();
        asked.push(Asked { conversation, category, gold, ids, list });
    }
    opened.mnemic.close().await;
    Ok(asked)
}

fn candidates(bundle: &Bundle, gold: &[String]) -> (Vec<String>, List) {
    let (mut ids, mut list) = (Vec::new(), List::default());
    for found in &bundle.turns {
        let id = found.turn.metadata.get(ID).and_then(|id| id.as_str()).unwrap_or_default();
        let shares = found.why.as_ref().map_or(&[][..], |why| &why.shares);
        let share = |feature: &Feature| {
            shares.iter().find(|(it, _)| it == feature).map_or(0.0, |(_, share)| *share)
        };
        list.shares.push(FEATURES.iter().map(share).collect());
        list.holds.push(gold.iter().any(|it| it == id));
        ids.push(id.to_owned());
    }
    (ids, list)
}

fn fit_to<'a>(asked: impl Iterator<Item = &'a Asked>) -> Vec<f64> {
    fit(&asked.map(|asked| &asked.list).collect::<Vec<_>>(), FEATURES.len())
}

/// For each conversation the factors that were fitted to all others.
fn folds(asked: &[Asked]) -> Result<BTreeMap<&str, Vec<f64>>> {
    let mut folds = BTreeMap::new();
    for conversation in asked.iter().map(|asked| asked.conversation.as_str()) {
        folds.entry(conversation).or_insert_with(|| {
            fit_to(asked.iter().filter(|asked| asked.conversation != conversation))
        });
    }
    if folds.len() < 2 {
        bail!("there must be two conversations at least: one to fit to, and one to measure on");
    }
    Ok(folds)
}

/// Any multiple of the weights ranks alike. What all evidence together counts is kept, since
/// confidence is told by how far scores lie apart.
fn level(factors: Vec<f64>, search: &SearchArgs) -> Vec<f64> {
    let column = *columns(search).last().unwrap_or(&0);
    let (mut stood, mut stands) = (0.0, 0.0);
    for (feature, factor) in FEATURES.iter().zip(&factors).filter(|it| it.0.is_evidence()) {
        let weight = weights::of_turns(*feature)[column];
        stood += weight;
        stands += factor * weight;
    }
    let by = if stands > 0.0 { stood / stands } else { 1.0 };
    factors.into_iter().map(|factor| factor * by).collect()
}

/// Which of the weights of a feature the questions were asked with: by words alone, with meaning,
/// with pieces too.
fn columns(search: &SearchArgs) -> &'static [usize] {
    if search.needs_model() { &[1, 2] } else { &[0] }
}

fn scores<'a>(asked: &'a [Asked], factors: impl Fn(&'a Asked) -> &'a [f64]) -> Scores {
    let mut scores = Scores::of_evidence(&CUTS);
    for it in asked {
        let ranked = it.list.ranked(factors(it));
        let ranked: Vec<_> = ranked.into_iter().map(|place| it.ids[place].clone()).collect();
        scores.add(it.category, evidence(&it.gold, &ranked, &CUTS));
    }
    scores
}

/// The weights that stand, and those fitted without the conversation that is asked about.
fn tell(
    asked: &[Asked],
    folds: &BTreeMap<&str, Vec<f64>>,
    search: &SearchArgs,
    report: &mut Report,
) {
    let ones = vec![1.0; FEATURES.len()];
    let stand = scores(asked, |_| &ones);
    let unseen = scores(asked, |it| folds.get(it.conversation.as_str()).unwrap_or(&ones));
    for (name, scores) in [("as they stand", &stand), ("cross-validated", &unseen)] {
        report.table(scores.table(name));
        let target = |measure| promised(measure, search).filter(|_| name != "as they stand");
        for measure in MEASURES {
            let figure = format!("{name}: all, {measure}");
            report.estimate_for(figure, scores.interval(measure), target(measure));
        }
        let of_several = scores.of(MULTI_HOP).interval("frac@10");
        let figure = format!("{name}: {MULTI_HOP}, frac@10");
        report.estimate_for(figure, of_several, target(MULTI_HOP));
    }
    for measure in MEASURES {
        let better = unseen.better_by(&stand, measure);
        report.estimate(format!("cross-validated: {measure}, better by"), better);
    }
    let found = asked.iter().map(|it| {
        let held = it.list.holds.iter().filter(|holds| **holds).count();
        100.0 * held as f64 / it.gold.len().max(1) as f64
    });
    let found = found.sum::<f64>() / asked.len().max(1) as f64;
    report.add("among the candidates, whatever the weights", found);
}

/// How the weights fitted to the one set do on another.
fn tell_also(folder: &Path, others: &[Asked], fitted: &[f64], report: &mut Report) {
    let ones = vec![1.0; FEATURES.len()];
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
    let (stand, then) = (scores(others, |_| &ones), scores(others, |_| fitted));
    for measure in MEASURES {
        report.estimate(format!("{name}, as they stand: {measure}"), stand.interval(measure));
        let better = then.better_by(&stand, measure);
        report.estimate(format!("{name}, as fitted: {measure}, better by"), better);
    }
}

/// What each weight is to be multiplied by: fitted to all, and the least and the most without one
/// conversation.
fn factors(asked: &[Asked], folds: &BTreeMap<&str, Vec<f64>>, fitted: &[f64]) -> Table {
    let row = |(place, feature): (usize, &Feature)| {
        let tells = |it: &&Asked| it.list.shares.iter().any(|shares| shares[place] != 0.0);
        let of_folds = || folds.values().map(|factors| factors[place]);
        let (least, most) = (of_folds().reduce(f64::min), of_folds().reduce(f64::max));
        Row {
            name: feature.as_str().to_owned(),
            count: asked.iter().filter(tells).count(),
            values: vec![fitted[place], least.unwrap_or(f64::NAN), most.unwrap_or(f64::NAN)],
        }
    };
    let columns = ["fitted", "least", "most"].map(str::to_owned).to_vec();
    let rows = FEATURES.iter().enumerate().map(row).collect();
    Table { title: "factors of the weights".to_owned(), columns, rows, decimals: 2 }
}

fn listing(fitted: &[f64], search: &SearchArgs) -> Vec<String> {
    let line = |(feature, factor): (&Feature, &f64)| {
        let mut weights = weights::of_turns(*feature);
        for column in columns(search) {
            weights[*column] *= factor;
        }
        let [by_words, with_meaning, with_pieces] = weights;
        format!("Feature::{feature:?} => [{by_words:.2}, {with_meaning:.2}, {with_pieces:.2}],")
    };
    FEATURES.iter().zip(fitted).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::TechniqueArg;

    fn by_words() -> SearchArgs {
        SearchArgs { dir: None, techniques: vec![TechniqueArg::Words] }
    }

    /// A question with two candidates, of which the one has the words and the other the answer.
    fn asked(conversation: &str, words: f64, speaker: f64) -> Asked {
        let shares = |of: Feature, share: f64| {
            FEATURES.iter().map(|it| if *it == of { share } else { 0.0 }).collect::<Vec<_>>()
        };
        Asked {
            conversation: conversation.to_owned(),
            category: MULTI_HOP,
            gold: vec!["b".to_owned()],
            ids: vec!["a".to_owned(), "b".to_owned()],
            list: List {
                shares: vec![shares(Feature::Words, words), shares(Feature::Speaker, speaker)],
                holds: vec![false, true],
            },
        }
    }

    #[test]
    fn a_conversation_is_measured_by_what_was_fitted_to_the_others() {
        let mut all: Vec<_> = (0..20).map(|_| asked("one", 0.9, 0.5)).collect();
        all.extend((0..20).map(|_| asked("two", 0.9, 0.5)));
        all.push(Asked { list: List::default(), ids: vec![], ..asked("three", 0.0, 0.0) });
        let folds = folds(&all).unwrap();
        assert_eq!(folds.keys().copied().collect::<Vec<_>>(), ["one", "three", "two"]);
        let of = |feature| FEATURES.iter().position(|it| *it == feature).unwrap();
        for factors in folds.values() {
            assert!(factors[of(Feature::Speaker)] > 1.5 * factors[of(Feature::Words)]);
            assert!((factors[of(Feature::Date)] - 1.0).abs() < 1e-9, "nothing says anything of it");
        }
        let mut report = Report::new("fit", "made up");
        tell(&all, &folds, &by_words(), &mut report);
        let told = report.to_json().to_string();
        assert!(told.contains("cross-validated: multi-hop, frac@10"), "{told}");
        assert!(super::folds(&all[..20]).is_err(), "one conversation is not enough");
    }

    #[test]
    fn weights_are_listed_as_they_are_written_down() {
        let mut factors = vec![1.0; FEATURES.len()];
        factors[0] = 2.0;
        let [stood, meaning, pieces] = weights::of_turns(FEATURES[0]);
        let lines = listing(&factors, &by_words());
        assert_eq!(lines.len(), FEATURES.len());
        let doubled = 2.0 * stood;
        assert_eq!(
            lines[0],
            format!("Feature::Words => [{doubled:.2}, {meaning:.2}, {pieces:.2}],"),
            "what was not asked with stays"
        );
        let leveled = level(factors, &by_words());
        let sum = |factors: &[f64]| {
            let of = FEATURES.iter().zip(factors).filter(|it| it.0.is_evidence());
            of.map(|(it, factor)| factor * weights::of_turns(*it)[0]).sum::<f64>()
        };
        assert!((sum(&leveled) - sum(&vec![1.0; FEATURES.len()])).abs() < 1e-9);
    }
}
