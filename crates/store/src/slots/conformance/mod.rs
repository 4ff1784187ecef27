//! What every keeper of slots must do alike, as one suite that runs on each of them.
//!
//! One instantiates it with [`conformance!`] and a function that opens it together with the way
//! in which its time passes. Nothing here may know which one runs.

mod shelves;
mod time;
mod values;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::ids::WorkspaceId;
use mnemic_core::principal::Principal;
use mnemic_core::slot::{Kept, Listing, Portion, Shelf, Slots, Ttl};
use uuid::Uuid;

pub(super) use self::{shelves::*, time::*, values::*};

/// How time goes by for what is tested.
#[async_trait]
pub(super) trait Time: Send + Sync {
    fn now(&self) -> Timestamp;
    async fn pass(&self, time: Duration);
}

/// What is tested, and a workspace in it that no other test uses.
pub(super) struct Bench {
    pub(super) slots: Arc<dyn Slots>,
    pub(super) time: Arc<dyn Time>,
    pub(super) workspace: WorkspaceId,
}

/// Runs every test of the suite on what `$open` opens.
macro_rules! conformance {
    ($open:path) => {
        $crate::slots::conformance::conformance!(
            $open:
            a_value_comes_back_as_it_was_put,
            a_large_value_comes_back_whole,
            a_put_replaces_the_value_and_its_time,
            what_was_never_put_is_absent,
            a_deleted_slot_is_absent_and_deleted_once,
            many_writers_at_once_leave_whole_values,
            an_expired_slot_is_absent_to_everybody,
            a_read_lets_its_time_begin_anew,
            a_listing_lets_the_time_of_what_it_shows_begin_anew,
            each_slot_has_a_time_of_its_own,
            workspaces_do_not_see_each_other,
            conversations_do_not_see_each_other,
            clearing_counts_what_it_removes,
            erasing_removes_a_workspace_and_nothing_else,
            a_list_goes_by_name_page_by_page,
            a_page_has_so_many_bytes_and_at_least_one_slot,
            it_is_well,
        );
    };
    ($open:path: $($test:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                $crate::slots::conformance::$test($open()).await;
            }
        )*
    };
}
pub(super) use conformance;

pub(super) const HOUR: u32 = 3_600;
const PLENTY: Portion = Portion { slots_max: 10_000, bytes_max: usize::MAX };

impl Bench {
    pub(super) fn new(slots: Arc<dyn Slots>, time: Arc<dyn Time>) -> Self {
        Self { slots, time, workspace: WorkspaceId(Uuid::new_v4()) }
    }

    /// The same keeper, seen from another workspace.
    fn next_door(&self) -> Self {
        Self::new(Arc::clone(&self.slots), Arc::clone(&self.time))
    }

    pub(super) fn shelf(&self, conversation: &str) -> Shelf {
        Shelf {
            scope: member(self.workspace).scope(),
            conversation: conversation.parse().expect("a conversation"),
        }
    }

    pub(super) async fn put(&self, conversation: &str, name: &str, value: &str, seconds: u32) {
        let (shelf, slot) = (self.shelf(conversation), kept(name, value, seconds));
        self.slots.put(&shelf, slot, self.now()).await.expect("it is put");
    }

    pub(super) async fn read(&self, conversation: &str, name: &str) -> Option<Kept> {
        let name = name.parse().expect("a name");
        self.slots.read(&self.shelf(conversation), &name, self.now()).await.expect("it is read")
    }

    async fn value(&self, conversation: &str, name: &str) -> Option<String> {
        self.read(conversation, name).await.map(|kept| kept.value)
    }

    async fn delete(&self, conversation: &str, name: &str) -> bool {
        let (shelf, name) = (self.shelf(conversation), name.parse().expect("a name"));
        self.slots.delete(&shelf, &name, self.now()).await.expect("it is deleted")
    }

    async fn clear(&self, conversation: &str) -> u64 {
        self.slots.clear(&self.shelf(conversation), self.now()).await.expect("it is cleared")
    }

    async fn list(&self, conversation: &str, after: Option<&str>, portion: Portion) -> Listing {
        let after = after.map(|name| name.parse().expect("a name"));
        let shelf = self.shelf(conversation);
        let listed = self.slots.list(&shelf, after.as_ref(), portion, self.now());
        listed.await.expect("it is listed")
    }

    async fn names(&self, conversation: &str) -> Vec<String> {
        names(&self.list(conversation, None, PLENTY).await)
    }

    fn now(&self) -> Timestamp {
        self.time.now()
    }

    async fn pass(&self, milliseconds: u64) {
        self.time.pass(Duration::from_millis(milliseconds)).await;
    }
}

pub(super) fn kept(name: &str, value: &str, seconds: u32) -> Kept {
    Kept {
        name: name.parse().expect("a name"),
        value: value.to_owned(),
        ttl: Ttl::new(seconds).expect("a time"),
    }
}

fn names(listing: &Listing) -> Vec<String> {
    listing.slots.iter().map(|slot| slot.name.to_string()).collect()
}

/// Only a principal has a scope.
fn member(workspace_id: WorkspaceId) -> Principal {
    let token_id = mnemic_core::ids::TokenId(Uuid::nil());
    let role = "member".to_owned();
    let (agent, user, operator, profile) = (None, None, false, None);
    let audit = mnemic_core::audit::Level::default();
    let access = mnemic_core::grant::Access::default();
    let (memory, expand) = (true, false);
    Principal {
        token_id,
        workspace_id,
        role,
        agent,
        user,
        operator,
        profile,
        memory,
        expand,
        audit,
        access,
    }
}

pub(crate) async fn it_is_well(bench: Bench) {
    bench.slots.ping().await.expect("it answers");
    let finding = bench.slots.check().await;
    assert!(finding.ok, "{finding:?}");
    assert_eq!(finding.part, "slots");
    bench.put("c", "a", "1", HOUR).await;
    bench.slots.sweep(bench.now()).await;
    assert_eq!(bench.value("c", "a").await.as_deref(), Some("1"), "it is live");
}
