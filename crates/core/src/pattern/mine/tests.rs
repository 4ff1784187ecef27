//! Every threshold on both sides, without a store.

use jiff::SignedDuration;
use uuid::Uuid;

use super::*;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn pair() -> Pair {
    Pair::new("edit", "person")
}

fn tallies(total: i64, keys: &[(&str, i64)]) -> Tallies {
    let tally = |(error, sequences): &(&str, i64)| KeyTally {
        error_code: (*error).to_owned(),
        sequences: *sequences,
        last_at: NOW,
    };
    Tallies { total, keys: keys.iter().map(tally).collect() }
}

fn mined(tallies: &Tallies, known: &[Pattern]) -> Vec<Change> {
    let settings = TelemetrySettings::default();
    decide(&pair(), tallies, known, &settings, NOW, || PatternId(Uuid::from_u128(9)))
}

/// The one pattern that was made.
fn made(changes: &[Change]) -> Option<Pattern> {
    let mut made = changes.iter().filter_map(|change| match change {
        Change::AddPattern(pattern) => Some(pattern.clone()),
        _ => None,
    });
    let first = made.next();
    assert!(made.next().is_none());
    first
}

fn live(samples: i64, total: i64) -> Pattern {
    let share = Share::new(samples, total);
    promoted(PatternId(Uuid::from_u128(1)), pair().key("E"), share, NOW, NOW)
}

#[test]
fn a_pattern_takes_five_sequences_and_sixty_percent() {
    for (samples, total, is_made) in [
        (4, 4, false),
        (5, 5, true),
        (5, 8, true),
        (5, 9, false),
        (59, 100, false),
        (60, 100, true),
        (6, 10, true),
        (3, 5, false),
    ] {
        let found = made(&mined(&tallies(total, &[("E", samples)]), &[]));
        assert_eq!(found.is_some(), is_made, "{samples} of {total}");
        if let Some(pattern) = found {
            assert_eq!(pattern.key.to_string(), "edit:person:E");
            assert_eq!((pattern.share, pattern.promoted), (pattern.promoted, pattern.share));
            assert_eq!((pattern.share.samples, pattern.share.total), (samples, total));
        }
    }
}

#[test]
fn one_pair_can_have_more_than_one_pattern() {
    let changes = mined(&tallies(10, &[("", 7), ("E", 9), ("F", 5)]), &[]);
    let keys: Vec<_> = changes
        .iter()
        .map(|change| match change {
            Change::AddPattern(pattern) => pattern.key.to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(keys, ["edit:person:None", "edit:person:E"]);
}

#[test]
fn a_pattern_is_moved_until_it_has_shifted_by_fifteen_points() {
    for (samples, shifted) in [(80, false), (66, false), (65, true), (94, false), (95, true)] {
        let before = live(80, 100);
        let changes = mined(&tallies(100, &[("E", samples)]), std::slice::from_ref(&before));
        let fresh = made(&changes);
        assert_eq!(fresh.is_some(), shifted, "{samples}");
        match (&changes[..], fresh) {
            ([], None) => assert_eq!(samples, 80, "nothing has changed"),
            ([Change::UpdatePattern(moved)], None) => {
                assert_eq!((moved.id, moved.revision), (before.id, 2));
                assert_eq!((moved.share.samples, moved.promoted), (samples, before.promoted));
                assert!(moved.recommendation.starts_with(&format!("{samples}% of edit")));
            }
            ([Change::UpdatePattern(old), Change::AddPattern(_)], Some(fresh)) => {
                assert_eq!((old.id, old.superseded_by), (before.id, Some(fresh.id)));
                assert_eq!(old.share, before.share, "it stays what it was");
                assert_eq!(fresh.promoted.samples, samples);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A hundred small steps are as far as a long one.
#[test]
fn a_slow_shift_is_one_too() {
    let mut pattern = live(80, 100);
    let mut superseded_at = None;
    for samples in (50..80).rev() {
        let known = [pattern.clone()];
        let changes = mined(&tallies(100, &[("E", samples)]), &known);
        if made(&changes).is_some() {
            superseded_at = Some(samples);
            break;
        }
        let [Change::UpdatePattern(moved)] = &changes[..] else { panic!("{changes:?}") };
        pattern = moved.clone();
    }
    assert_eq!(superseded_at, Some(65));
}

#[test]
fn what_people_said_goes_on_to_the_successor() {
    let noted = Pattern {
        annotation: Some("mind the gap".to_owned()),
        replacement: Some("walk".to_owned()),
        annotation_by: Some("ana".to_owned()),
        replacement_by: Some("bo".to_owned()),
        noted_at: Some(NOW),
        suppressed: true,
        ..live(90, 100)
    };
    let gone = Pattern { deleted_at: Some(NOW), ..noted.clone() };
    for (known, samples) in [(noted, 70), (gone, 90)] {
        let fresh = made(&mined(&tallies(100, &[("E", samples)]), &[known])).unwrap();
        assert_eq!(fresh.annotation.as_deref(), Some("mind the gap"));
        assert_eq!(fresh.replacement.as_deref(), Some("walk"));
        assert_eq!(fresh.annotation_by.as_deref(), Some("ana"), "and is still theirs");
        assert_eq!(fresh.replacement_by.as_deref(), Some("bo"));
        assert_eq!((fresh.suppressed, fresh.noted_at), (true, Some(NOW)));
    }
}

#[test]
fn what_is_seen_no_more_is_moved_down_and_what_is_unknown_rests() {
    let before = live(5, 8);
    let known = std::slice::from_ref(&before);
    let changes = mined(&tallies(4, &[("", 4)]), known);
    let fresh = made(&changes).unwrap();
    assert_eq!((fresh.share.samples, fresh.share.total), (0, 4), "the failure is superseded");
    assert_eq!(fresh.last_seen_at, before.last_seen_at, "and was not seen again");
    assert!(mined(&tallies(0, &[]), known).is_empty());
}

#[test]
fn being_seen_again_is_enough_to_be_moved() {
    let before = live(80, 100);
    let later = NOW + SignedDuration::from_hours(1);
    let mut counts = tallies(100, &[("E", 80)]);
    counts.keys[0].last_at = later;
    let changes = mined(&counts, std::slice::from_ref(&before));
    let [Change::UpdatePattern(moved)] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!(moved.last_seen_at, later);
}
