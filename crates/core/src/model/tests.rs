//! Who gets which model, and whose key goes where.

use jiff::Timestamp;

use super::*;
use crate::error::Code;

fn server_endpoint(provider: Provider) -> Endpoint {
    Endpoint {
        provider,
        base_url: "https://server.example/v1".to_owned(),
        name: Some("server-model".to_owned()),
        key: Some(ApiKey::new("server-key")),
        timeout: Duration::from_secs(9),
        allow_private: true,
    }
}

fn server() -> ServerModels {
    ServerModels {
        default: Some(Provider::Openai),
        endpoints: vec![server_endpoint(Provider::Openai)],
        ..ServerModels::default()
    }
}

fn settings(choice: ProviderChoice) -> ModelSettings {
    ModelSettings { provider: Some(choice), ..ModelSettings::default() }
}

fn sealed_for(audience: &str) -> Sealed {
    Sealed {
        name: KEY.to_owned(),
        audience: audience.to_owned(),
        master_key_id: String::new(),
        sealed: vec![],
        updated_at: Timestamp::UNIX_EPOCH,
    }
}

fn chosen(settings: &ModelSettings, sealed: Option<&Sealed>) -> Result<Option<Chosen>> {
    choose(settings, sealed, &server(), |_| Ok(ApiKey::new("own-key")))
}

#[test]
fn the_server_serves_where_a_workspace_does_not_choose() {
    let found = chosen(&ModelSettings::default(), None).unwrap().unwrap();
    assert_eq!(
        (found.source, &found.endpoint),
        (Source::Server, &server_endpoint(Provider::Openai))
    );
    let other = ModelSettings {
        name: Some("small".to_owned()),
        timeout_seconds: Some(3),
        requests_per_minute: Some(7),
        ..ModelSettings::default()
    };
    let found = chosen(&other, None).unwrap().unwrap();
    assert_eq!(found.endpoint.name.as_deref(), Some("small"));
    assert_eq!(found.endpoint.timeout, Duration::from_secs(3));
    assert_eq!(found.quota.requests_per_minute, Some(7));
    assert_eq!(found.quota.tokens_per_minute, Quota::default().tokens_per_minute);
    assert_eq!(chosen(&settings(ProviderChoice::Off), None).unwrap(), None);
    let none =
        choose(&ModelSettings::default(), None, &ServerModels::default(), |_| Ok(ApiKey::new("")));
    assert_eq!(none.unwrap(), None);
}

#[test]
fn the_servers_key_never_goes_to_an_address_of_a_workspace() {
    let own = ModelSettings {
        base_url: Some("https://elsewhere.example".to_owned()),
        ..settings(ProviderChoice::Openai)
    };
    let found = chosen(&own, None).unwrap().unwrap();
    assert_eq!((found.source, found.endpoint.key), (Source::Workspace, None));
    assert!(!found.endpoint.allow_private);
    let anthropic = chosen(&settings(ProviderChoice::Anthropic), None).unwrap().unwrap();
    assert_eq!((anthropic.source, anthropic.endpoint.key), (Source::Workspace, None));
    let same = chosen(&settings(ProviderChoice::Openai), None).unwrap().unwrap();
    assert_eq!(same.source, Source::Server);
}

#[test]
fn a_key_goes_only_where_it_was_given_for() {
    let openai = settings(ProviderChoice::Openai);
    let key = sealed_for(&audience(&openai).unwrap());
    let found = chosen(&openai, Some(&key)).unwrap().unwrap();
    assert_eq!(found.endpoint.key, Some(ApiKey::new("own-key")));
    assert_eq!(found.endpoint.base_url, "https://api.openai.com/v1");
    let moved = ModelSettings { base_url: Some("https://evil.example".to_owned()), ..openai };
    assert_eq!(chosen(&moved, Some(&key)).unwrap_err().code(), Code::Conflict);
    let other = settings(ProviderChoice::Anthropic);
    assert_eq!(chosen(&other, Some(&key)).unwrap_err().code(), Code::Conflict);
    let slash = ModelSettings {
        base_url: Some("https://api.openai.com/v1/".to_owned()),
        ..settings(ProviderChoice::Openai)
    };
    chosen(&slash, Some(&key)).unwrap();
}

#[test]
fn wrong_settings_are_named() {
    let with_url = |url: &str| ModelSettings {
        base_url: Some(url.to_owned()),
        ..settings(ProviderChoice::Openai)
    };
    for url in [
        "ftp://a",
        "https://",
        "https:///v1",
        "https://u:secret@a/v1",
        "https://a/v1?k=secret",
        "https://a b",
        "a",
    ] {
        let refused = with_url(url).check().unwrap_err().to_string();
        assert!(refused.starts_with("settings.model.base_url") && !refused.contains("secret"));
    }
    with_url("http://localhost:1234/v1").check().unwrap();
    let lone = ModelSettings { base_url: Some("https://a".to_owned()), ..ModelSettings::default() };
    lone.check().unwrap_err();
    let hasty = ModelSettings { timeout_seconds: Some(0), ..ModelSettings::default() };
    hasty.check().unwrap_err();
    for key in ["", "a b", "ümlaut", &"k".repeat(KEY_BYTES_MAX + 1)] {
        check_key(key).unwrap_err();
    }
    check_key("sk-1").unwrap();
}
