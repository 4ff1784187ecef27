use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Condition {
    Condition::read(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn refused(text: &str) -> String {
    Condition::read(text).expect_err(text).to_string()
}

#[test]
fn what_the_documents_name_is_taken() {
    for text in ["outcome == 'success'", "outcome == 'failure'", "action_count < 12"] {
        assert_eq!(read(text).to_string(), text);
    }
    assert_eq!(read(" outcome==\"success\" ").to_string(), "outcome == 'success'");
    assert_eq!(read("action_count>=007").to_string(), "action_count >= 7");
}

#[test]
fn and_binds_more_than_or_and_not_most() {
    use Outcome::{Failure, Success};
    let text = "outcome == 'success' or not action_count < 3 and action_count <= 5";
    let condition = read(text);
    assert_eq!(condition.to_string(), text);
    for (outcome, actions, holds) in [
        (Success, 1, true),
        (Success, 9, true),
        (Failure, 2, false),
        (Failure, 3, true),
        (Failure, 5, true),
        (Failure, 6, false),
    ] {
        assert_eq!(condition.holds(outcome, actions), holds, "{outcome:?} {actions}");
    }
    let grouped = read("(outcome == 'success' or not action_count < 3) and action_count <= 5");
    assert!(!grouped.holds(Success, 9) && grouped.holds(Success, 5));
    assert!(!read("not (outcome == 'success' or action_count > 3)").holds(Failure, 4));
}

#[test]
fn numbers_are_compared_on_both_sides_of_their_border() {
    for (sign, below, at, above) in [
        ("<", true, false, false),
        ("<=", true, true, false),
        (">", false, false, true),
        (">=", false, true, true),
        ("==", false, true, false),
        ("!=", true, false, true),
    ] {
        let condition = read(&format!("action_count {sign} 4"));
        for (actions, wanted) in [(3, below), (4, at), (5, above)] {
            let holds = condition.holds(Outcome::Success, actions);
            assert_eq!(holds, wanted, "{actions} {sign} 4");
        }
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (text, wanted) in [
        ("", "at character 1: expected `outcome`, `action_count`, `not` or `(`, found the end"),
        ("   ", "at character 4: expected `outcome`, `action_count`"),
        ("outcome", "at character 8: expected `==` or `!=`, found the end"),
        ("outcome = 'success'", "at character 9: expected `==` or `!=`, found `=`"),
        ("outcome < 'success'", "at character 9: expected `==` or `!=`, found `<`"),
        (
            "outcome == success",
            "at character 12: expected 'success' or 'failure', in quotes, found `success`",
        ),
        (
            "outcome == 'done'",
            "at character 12: expected 'success' or 'failure', in quotes, found 'done'",
        ),
        (
            "outcome == 'success",
            "at character 12: expected 'success' or 'failure', in quotes, found a text whose closing ' is missing",
        ),
        (
            "action_count < x",
            "at character 16: expected a whole number from 0 to 1000000000, found `x`",
        ),
        (
            "action_count < -1",
            "at character 16: expected a whole number from 0 to 1000000000, found `-`",
        ),
        (
            "action_count < 1000000001",
            "at character 16: expected a whole number from 0 to 1000000000, found `1000000001`",
        ),
        ("action_count < 99999999999999999999", "at character 16: expected a whole number"),
        ("action_count < 1.5", "at character 17: expected `and`, `or` or the end, found `.`"),
        (
            "action_count 3",
            "at character 14: expected one of `<`, `<=`, `>`, `>=`, `==`, `!=`, found `3`",
        ),
        (
            "actions < 3",
            "at character 1: expected `outcome`, `action_count`, `not` or `(`, found `actions`",
        ),
        (
            "outcome == 'success' && action_count < 3",
            "at character 22: expected `and`, `or` or the end, found `&`",
        ),
        (
            "outcome == 'success' action_count < 3",
            "at character 22: expected `and`, `or` or the end, found `action_count`",
        ),
        ("(outcome == 'success'", "at character 22: expected `and`, `or` or `)`, found the end"),
        ("outcome == 'success')", "at character 21: expected `and`, `or` or the end, found `)`"),
        ("not", "at character 4: expected"),
        ("outcome == 'success' or", "at character 24: expected"),
        ("é == 1", "at character 1: expected"),
        ("outcome == 'é' ø", "at character 12: expected 'success'"),
        ("__import__('os')", "at character 1: expected"),
    ] {
        let error = refused(text);
        assert!(error.starts_with(&format!("success_condition: {wanted}")), "{text}: {error}");
    }
}

#[test]
fn length_and_depth_have_their_limits() {
    let atom = "action_count < 3";
    let nested = |depth: usize| format!("{}{atom}{}", "(".repeat(depth), ")".repeat(depth));
    read(&nested(DEPTH_MAX));
    let error = refused(&nested(DEPTH_MAX + 1));
    assert!(error.contains("at character 34: nested more than 32 deep"), "{error}");
    refused(&format!("{}{atom}", "not ".repeat(DEPTH_MAX + 1)));
    let long = [atom; 53].join("and");
    assert_eq!(long.len(), 1_004);
    assert!(refused(&long).contains("1004 characters are more than the limit of 1000"));
    // What is written out again may be longer than what was taken, and is still read.
    let tight = ["action_count<3"; 52].join(" and ");
    assert!(tight.len() < CONDITION_CHARS_MAX);
    let kept = read(&tight).to_string();
    assert!(kept.len() > CONDITION_CHARS_MAX);
    assert_eq!(kept.parse::<Condition>().unwrap(), read(&tight));
}

fn any_condition() -> impl Strategy<Value = Condition> {
    let outcome = (any::<bool>(), any::<bool>()).prop_map(|(is, success)| {
        let outcome = if success { Outcome::Success } else { Outcome::Failure };
        Condition::Outcome { is, outcome }
    });
    let order = prop_oneof![
        Just(Order::Less),
        Just(Order::AtMost),
        Just(Order::More),
        Just(Order::AtLeast),
        Just(Order::Equal),
        Just(Order::Unequal),
    ];
    let count =
        (order, 0..=ACTIONS_MAX).prop_map(|(order, count)| Condition::ActionCount { order, count });
    prop_oneof![outcome, count].prop_recursive(8, 40, 2, |inner| {
        let boxed = inner.prop_map(Box::new).boxed();
        prop_oneof![
            boxed.clone().prop_map(Condition::Not),
            (boxed.clone(), boxed.clone()).prop_map(|(left, right)| Condition::And(left, right)),
            (boxed.clone(), boxed).prop_map(|(left, right)| Condition::Or(left, right)),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_out_reads_back_to_the_same(condition in any_condition()) {
        let text = condition.to_string();
        prop_assert_eq!(text.parse::<Condition>().unwrap(), condition, "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused_at_a_place_within_it(
        text in "(outcome|action_count|not|and|or|[(]|[)]|==|!=|<=|<|'success'|\"failure\"|[0-9]{1,3}|[ 'x=!é])*"
    ) {
        match text.parse::<Condition>() {
            Ok(condition) => {
                prop_assert_eq!(condition.to_string().parse::<Condition>().unwrap(), condition);
            }
            Err(e) => {
                let told = e.to_string();
                let place = told.split("at character ").nth(1).and_then(|it| it.split(':').next());
                let place: usize = place.unwrap().parse().unwrap();
                prop_assert!((1..=text.chars().count() + 1).contains(&place), "{}", told);
            }
        }
    }
}
