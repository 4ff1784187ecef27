//! Tokens: who they speak for, who may make and revoke them, and what is kept of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use mnemic_core::Code;
use mnemic_core::audit::{AuditFilter, Entry};
use mnemic_core::grant::{Grant, Permission};
use mnemic_core::ids::TokenId;
use mnemic_core::memory::NewMemory;
use mnemic_core::page::PageRequest;
use mnemic_core::principal::{ADMIN, AGENT, Caller, MEMBER, Principal, Profile};
use mnemic_core::token::{NewToken, Token};
use tokio::task::JoinSet;

use crate::world::{World, seen, text};

pub(crate) async fn a_token_speaks_for_what_it_was_made_for(w: World) {
    let acme = w.workspace("acme").await;
    let wish = NewToken {
        workspace: None,
        role: "security-reviewer".to_owned(),
        agent: Some("scout".to_owned()),
        user: Some("ada".to_owned()),
        operator: false,
        profile: Some(Profile::Full),
    };
    let (token, secret) = w.mnemic.create_token(&acme, wish).await.unwrap();
    let who = w.mnemic.authenticate(secret.reveal()).await.unwrap();
    assert_eq!(who.token_id, token.id);
    assert_eq!(who.workspace_id, acme.workspace_id, "the maker's own workspace by default");
    assert_eq!(who.role, "security-reviewer", "any name is a role");
    assert_eq!((who.agent.as_deref(), who.user.as_deref()), (Some("scout"), Some("ada")));
    assert!(!who.operator);
    assert_eq!((who.profile, token.profile), (Some(Profile::Full), Some(Profile::Full)));
    assert!(secret.reveal().starts_with(&token.prefix));
    let memory = w.remember(&who, "scouts name what they write").await;
    assert_eq!(memory.created_by, "scout");
}

pub(crate) async fn every_reason_to_refuse_a_token_looks_the_same(w: World) {
    let (token, secret) = w.mnemic.create_token(&w.operator, role(AGENT)).await.unwrap();
    w.mnemic.revoke_token(&w.operator, token.id).await.unwrap();
    let revoked = seen(w.mnemic.authenticate(secret.reveal()).await);
    assert_eq!(revoked.0, "unauthenticated");
    for other in ["", "mnemic_", "Bearer", &format!("{}0", secret.reveal())] {
        assert_eq!(seen(w.mnemic.authenticate(other).await), revoked, "{other}");
    }
}

pub(crate) async fn a_revoked_token_is_refused_from_the_next_request_on(w: World) {
    let (token, secret) = w.mnemic.create_token(&w.operator, role(AGENT)).await.unwrap();
    let (_, other) = w.mnemic.create_token(&w.operator, role(AGENT)).await.unwrap();
    w.mnemic.authenticate(secret.reveal()).await.unwrap();
    w.mnemic.revoke_token(&w.operator, token.id).await.unwrap();
    let refused = w.mnemic.authenticate(secret.reveal()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated);
    w.mnemic.authenticate(other.reveal()).await.unwrap();
    let first = find(&list(&w, &w.operator).await, token.id).revoked_at;
    assert_eq!(first, Some(w.now()));
    w.clock.forward(crate::world::DAY);
    w.mnemic.revoke_token(&w.operator, token.id).await.unwrap();
    let second = find(&list(&w, &w.operator).await, token.id).revoked_at;
    assert_eq!(second, first, "revoking twice changes nothing");
    let w = w.reopen().await;
    w.mnemic.authenticate(secret.reveal()).await.unwrap_err();
}

/// Where tokens are looked up in a database that others change, too, whoever was remembered is taken
/// for who they are by the time that they write.
pub(crate) async fn a_remembered_token_writes_only_while_it_stands(w: World) {
    let (other, _) = w.another_server();
    let (token, secret) = w.mnemic.create_token(&w.operator, role(AGENT)).await.unwrap();
    let looked_up = w.mnemic.authenticate(secret.reveal()).await.unwrap();
    let Some((principal, standing)) = w.mnemic.recognise(secret.reveal()) else { return };
    assert_eq!(principal, looked_up);
    let caller = Caller { standing: Some(standing.clone()), ..Caller::new(principal) };
    assert!(!standing.is_proven());
    w.mnemic.create_memory(&caller, text("the token stands")).await.unwrap();
    assert!(standing.is_proven());

    let grants = vec![Grant {
        role: AGENT.to_owned(),
        domain: "law".to_owned(),
        permission: Permission::None,
    }];
    other.set_grants(&w.operator, grants).await.unwrap();
    let law = NewMemory { domain: Some("law".to_owned()), ..text("a secret of the court") };
    let refused = w.mnemic.create_memory(&caller, law.clone()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated, "somebody with other grants was taken in");
    w.mnemic.authenticate(secret.reveal()).await.unwrap();
    let (principal, standing) = w.mnemic.recognise(secret.reveal()).unwrap();
    let caller = Caller { standing: Some(standing.clone()), ..Caller::new(principal) };
    assert_eq!(w.mnemic.create_memory(&caller, law).await.unwrap_err().code(), Code::Denied);
    assert!(standing.is_proven(), "a refusal is somebody's, too");

    other.revoke_token(&w.operator, token.id).await.unwrap();
    let refused = w.mnemic.create_memory(&caller, text("too late")).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated);
    w.mnemic.authenticate(secret.reveal()).await.unwrap_err();
    assert!(w.mnemic.recognise(secret.reveal()).is_none(), "it is forgotten");
    w.mnemic.flush_audit().await;
    let (filter, page) = (AuditFilter::default(), PageRequest::default());
    let entries = w.mnemic.list_audit(&w.operator, &filter, &page).await.unwrap().items;
    let of_token = |entry: &&Entry| entry.token_id == token.id.0;
    let outcomes: Vec<_> = entries.iter().filter(of_token).map(|e| e.error.as_deref()).collect();
    assert_eq!(outcomes, [Some("denied"), None], "what was never decided is not written down");
}

/// What is kept of a token for those who come often goes with it.
pub(crate) async fn a_busy_token_is_refused_as_soon_as_it_is_revoked(w: World) {
    let (token, secret) = w.mnemic.create_token(&w.operator, role(AGENT)).await.unwrap();
    let (revoked, visits) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut visitors = JoinSet::new();
    for _ in 0..4 {
        let (mnemic, secret) = (w.mnemic.clone(), secret.clone());
        let (revoked, visits) = (revoked.clone(), visits.clone());
        visitors.spawn(async move {
            loop {
                let too_late = revoked.load(Ordering::SeqCst);
                match mnemic.authenticate(secret.reveal()).await {
                    Ok(_) => assert!(!too_late, "it was let in"),
                    Err(refused) => return refused.code(),
                }
                visits.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
            }
        });
    }
    while visits.load(Ordering::SeqCst) < 20 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    w.mnemic.revoke_token(&w.operator, token.id).await.unwrap();
    revoked.store(true, Ordering::SeqCst);
    assert_eq!(visitors.join_all().await, [Code::Unauthenticated; 4]);
}

pub(crate) async fn admins_are_confined_to_their_own_workspace(w: World) {
    let (acme, globex) = (w.workspace("acme").await, w.workspace("globex").await);
    let theirs = list(&w, &globex).await;
    assert!(theirs.iter().all(|token| token.workspace == "globex"), "{theirs:?}");
    assert_eq!(theirs.len(), 1);
    let foreign = seen(w.mnemic.revoke_token(&acme, theirs[0].id).await);
    let unknown = seen(w.mnemic.revoke_token(&acme, TokenId(uuid::Uuid::now_v7())).await);
    assert_eq!(foreign, unknown);
    let at = |name: &str| NewToken { workspace: Some(name.to_owned()), ..role(MEMBER) };
    let foreign = seen(w.mnemic.create_token(&acme, at("globex")).await);
    let unknown = seen(w.mnemic.create_token(&acme, at("nowhere")).await);
    assert_eq!(foreign, unknown);
    assert_eq!(foreign.0, "not_found");
    w.mnemic.create_token(&acme, at("acme")).await.unwrap();
    w.mnemic.create_token(&w.operator, at("globex")).await.unwrap();
    let wish = NewToken { operator: true, ..role(ADMIN) };
    assert_eq!(seen(w.mnemic.create_token(&acme, wish).await).0, "denied");
}

pub(crate) async fn an_operators_token_is_for_operators_to_revoke(w: World) {
    let admin = w.member("default", ADMIN).await;
    let own = w.operator.token_id;
    assert_eq!(seen(w.mnemic.revoke_token(&admin, own).await).0, "not_found");
    w.mnemic.revoke_token(&w.operator, own).await.unwrap();
}

pub(crate) async fn only_admins_manage_tokens(w: World) {
    for role_name in [MEMBER, AGENT, "anything"] {
        let who = w.member("default", role_name).await;
        assert_eq!(seen(w.mnemic.create_token(&who, role(AGENT)).await).0, "denied");
        let page = PageRequest::default();
        assert_eq!(seen(w.mnemic.list_tokens(&who, &page).await).0, "denied");
        assert_eq!(seen(w.mnemic.revoke_token(&who, who.token_id).await).0, "denied");
    }
}

pub(crate) async fn operators_see_every_token_newest_first(w: World) {
    let acme = w.workspace("acme").await;
    let all = list(&w, &w.operator).await;
    assert_eq!(all.len(), 2);
    assert_eq!((all[0].id, all[1].id), (acme.token_id, w.operator.token_id));
}

pub(crate) async fn a_secret_is_in_no_file(w: World) {
    let (token, secret) = w.mnemic.create_token(&w.operator, role(AGENT)).await.unwrap();
    let digits = secret.reveal().trim_start_matches("mnemic_");
    assert!(!w.files_have(secret.reveal()));
    assert!(!w.files_have(&digits[8..40]), "nor a part of it");
    assert!(w.files_have(&token.prefix), "though the files are searched well enough");
}

fn role(role: &str) -> NewToken {
    NewToken { role: role.to_owned(), ..NewToken::default() }
}

async fn list(w: &World, who: &Principal) -> Vec<Token> {
    w.mnemic.list_tokens(who, &PageRequest::default()).await.unwrap().items
}

fn find(tokens: &[Token], id: TokenId) -> &Token {
    tokens.iter().find(|token| token.id == id).unwrap()
}
