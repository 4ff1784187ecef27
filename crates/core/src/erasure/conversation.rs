//! Erasing a conversation: its turns and episodes, its slots, the goals that were set and the tools
//! that were called in it, where its memories were seen, kept answers, and the words of it that the
//! audit has. What was learned from it stays, because it may have been learned elsewhere too.

use super::{Burial, Counts, Receipt, SubjectKind, TombstoneKind};
use crate::Mnemic;
use crate::conversation::ConversationId;
use crate::error::Result;
use crate::principal::{Action, Caller, Operation};
use crate::slot::Shelf;
use crate::store::Change;

static ERASE: Operation = Operation::new("conversation.erase", Action::EraseMemories);

impl Mnemic {
    /// Erases what there is of a conversation. One of which there is nothing is not found.
    pub async fn erase_conversation(&self, caller: &Caller, id: &str) -> Result<Receipt> {
        self.authorize(&caller.principal, &ERASE)?;
        let id: ConversationId = id.parse()?;
        let shelf = Shelf { scope: caller.scope(), conversation: id.clone() };
        // Slots go first, so that nothing has gone yet if they are away; and once more at the
        // end, for what was written meanwhile.
        let slots = self.clear_shelf(&shelf).await?;
        let erased = self.erase(caller, &ERASE, || {
            Box::pin(async {
                let mut receipt = self.receipt(SubjectKind::Conversation, id.as_str());
                super::add(&mut receipt.counts, &slot_count(slots));
                let mut burial = Burial::begin(self, caller).await?;
                burial.subject(TombstoneKind::Conversation, id.as_str())?;
                for goal in self.store.list_goals_of(caller.scope(), id.as_str(), None).await? {
                    burial.other(Change::EraseGoal(goal));
                }
                let mut changes = burial.finish(&mut receipt);
                changes.push(Change::EraseConversation { id: id.to_string(), until: None });
                Ok((receipt, changes))
            })
        });
        let mut receipt: Receipt = erased.await?;
        id.as_str().clone_into(&mut receipt.subject_id);
        let late = self.clear_shelf(&shelf).await?;
        super::add(&mut receipt.counts, &slot_count(late));
        Ok(receipt)
    }
}

fn slot_count(slots: u64) -> Counts {
    Counts::from([("slots".to_owned(), slots)])
}
