//! What is known of a question before anything is searched: what may be seen, who and when it
//! speaks of, and what a model makes of it where that is wanted.

use tokio::sync::OnceCell;

use super::search::Quest;
use super::times::Times;
use super::{LIMIT_DEFAULT, LIMIT_MAX, Part, RecallRequest};
use crate::Mnemic;
use crate::conversation::ConversationId;
use crate::error::Result;
use crate::page::check_limit;
use crate::principal::{Action, Principal, refuse};

impl Mnemic {
    pub(super) async fn quest(
        &self,
        principal: &Principal,
        request: &RecallRequest,
        asked_in: Option<ConversationId>,
    ) -> Result<Quest> {
        let (scope, now) = (principal.scope(), self.clock.now());
        let limit = check_limit(request.limit, LIMIT_DEFAULT, LIMIT_MAX)?;
        let seen_from = request.as_of.unwrap_or(now);
        let mut times = Times::of(&request.query, seen_from);
        let (mut guess, mut unguessed) = (None, None);
        if request.expand.unwrap_or(principal.expand) {
            match Box::pin(self.guess(scope, &request.query, seen_from)).await {
                Ok(made) => guess = Some(made),
                Err(why) => unguessed = Some(why),
            }
        }
        if let Some(guess) = &guess {
            guess.add_to(&mut times, seen_from);
        }
        let hears = refuse(principal, Action::ReadConversations).is_none();
        let clue = if request.includes(Part::Turns) && hears {
            Some(self.clue(scope, &request.query, &times).await?)
        } else {
            None
        };
        Ok(Quest {
            principal: principal.clone(),
            scope,
            sought: times.sought(&request.query),
            request: request.clone(),
            filter: request.filter(principal.access.readable()),
            limit,
            now,
            asked_in,
            clue,
            times,
            guess,
            unguessed,
            vector: OnceCell::new(),
            passage: OnceCell::new(),
        })
    }
}
