use super::*;

struct Hourly;

#[async_trait]
impl Job for Hourly {
    fn name(&self) -> &'static str {
        "hourly"
    }

    fn cadence(&self) -> Option<SignedDuration> {
        Some(SignedDuration::from_hours(1))
    }

    async fn preview(&self, _: &Mnemic, _: Scope) -> Result<u64> {
        Ok(0)
    }

    async fn run(&self, _: &Mnemic, _: &Claim) -> Result<Done> {
        Ok(Done::default())
    }
}

fn record(failures: i64) -> JobRecord {
    let at = Timestamp::UNIX_EPOCH;
    let last_run = LastRun { started_at: at, finished_at: at, changed: 0, error: None };
    JobRecord {
        name: "hourly".to_owned(),
        epoch: 1,
        claimed: None,
        last_run: Some(last_run),
        failures,
    }
}

fn minutes_until_next(failures: i64) -> i64 {
    let next = next_run(&Hourly, Some(&record(failures)), Timestamp::UNIX_EPOCH).unwrap();
    next.duration_since(Timestamp::UNIX_EPOCH).as_mins()
}

#[test]
fn a_job_that_failed_is_tried_again_sooner_than_its_cadence() {
    assert_eq!(minutes_until_next(0), 60);
    assert_eq!(minutes_until_next(1), 1);
    assert_eq!(minutes_until_next(2), 2);
    assert_eq!(minutes_until_next(6), 32);
    assert_eq!(minutes_until_next(7), 60);
    assert_eq!(minutes_until_next(1_000_000), 60);
}

#[test]
fn one_that_never_ran_is_due_at_once() {
    let now = Timestamp::UNIX_EPOCH;
    assert_eq!(next_run(&Hourly, None, now), Some(now));
    assert_eq!(show(&Hourly, None, now).lag_seconds, 0);
}

#[test]
fn a_clock_that_was_set_back_does_not_put_a_job_off() {
    let now = |back| Timestamp::UNIX_EPOCH - SignedDuration::from_secs(back);
    let next = |back| next_run(&Hourly, Some(&record(0)), now(back)).unwrap();
    assert_eq!(next(60), Timestamp::UNIX_EPOCH + SignedDuration::from_hours(1), "another's clock");
    assert_eq!(next(61), now(61));
    assert_eq!(next(1_000_000), now(1_000_000));
}

#[test]
fn lag_is_counted_from_when_it_was_due_and_not_while_it_runs() {
    let now = Timestamp::UNIX_EPOCH + SignedDuration::from_mins(90);
    assert_eq!(show(&Hourly, Some(&record(0)), now).lag_seconds, 30 * 60);
    let running =
        JobRecord { claimed: Some((now, now + SignedDuration::from_secs(1))), ..record(0) };
    let state = show(&Hourly, Some(&running), now);
    assert_eq!((state.lag_seconds, state.running_since), (0, Some(now)));
}

struct Nightly;

#[async_trait]
impl Job for Nightly {
    fn name(&self) -> &'static str {
        "hourly"
    }

    fn cadence(&self) -> Option<SignedDuration> {
        Some(SignedDuration::from_hours(24))
    }

    fn is_nightly(&self) -> bool {
        true
    }

    async fn preview(&self, _: &Mnemic, _: Scope) -> Result<u64> {
        Ok(0)
    }

    async fn run(&self, _: &Mnemic, _: &Claim) -> Result<Done> {
        Ok(Done::default())
    }
}

#[test]
fn a_nightly_job_passes_over_no_day() {
    for (finished, next) in [
        ("2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"),
        ("2026-03-01T00:00:15Z", "2026-03-02T00:00:00Z"),
        ("2026-03-01T23:59:59.999999Z", "2026-03-02T00:00:00Z"),
        ("2026-12-31T12:00:00Z", "2027-01-01T00:00:00Z"),
    ] {
        let mut record = record(0);
        if let Some(last) = &mut record.last_run {
            last.finished_at = finished.parse().unwrap();
        }
        assert_eq!(next_run(&Nightly, Some(&record), Timestamp::MAX), next.parse().ok());
    }
    let failed = next_run(&Nightly, Some(&record(1)), Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(failed.as_second(), 60, "one that failed is tried again soon");
}
