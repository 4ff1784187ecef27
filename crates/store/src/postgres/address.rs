//! Addresses of databases: which one, as whom, and how well the way there is protected.
//!
//! `sslmode` and `sslrootcert` mean what they mean to libpq, but the driver knows only half of
//! them, so they are taken out before it reads the rest. No error repeats an address: it may hold
//! a password.

use std::borrow::Cow;
use std::path::Path;

use mnemic_core::{Code, Error, Result};
use percent_encoding::percent_decode_str;
use tokio_postgres::config::{Config, Host, SslMode};

use super::tls::{Authorities, Connector, Trust};

/// An address that was understood, and the connector that encrypts as it asks for.
pub(super) struct Address {
    pub config: Config,
    pub connector: Connector,
}

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self> {
        let mut parts = Parts::of(url)?;
        let (mode, trust) =
            encryption(parts.take("sslmode")?.as_deref(), parts.take("sslrootcert")?.as_deref())?;
        let mut config: Config =
            parts.to_string().parse().map_err(|error| misshapen().caused_by(error))?;
        name_hosts(&mut config);
        // As with libpq: what does not leave the machine is not encrypted, whatever is asked for.
        config.ssl_mode(if is_local(&config) { SslMode::Disable } else { mode });
        Ok(Self { config, connector: Connector::new(trust)? })
    }
}

/// The same address for another user, with everything else that it says.
pub(super) fn with_user(url: &str, user: &str, password: &str) -> Result<String> {
    let mut parts = Parts::of(url)?;
    parts.take("user")?;
    parts.take("password")?;
    parts.credentials = Some(format!("{}:{password}", encode(user)).into());
    Ok(parts.to_string())
}

fn encryption(mode: Option<&str>, authorities: Option<&str>) -> Result<(SslMode, Trust)> {
    if authorities.is_some() && matches!(mode, None | Some("disable" | "prefer")) {
        let problem = "is of no effect unless sslmode is require, verify-ca or verify-full";
        return Err(Error::invalid("sslrootcert", problem));
    }
    let load = || match authorities {
        None | Some("system") => Authorities::of_system(),
        Some(path) => Authorities::of_file(Path::new(path)),
    };
    Ok(match mode {
        Some("disable") => (SslMode::Disable, Trust::Anybody),
        None | Some("prefer") => (SslMode::Prefer, Trust::Anybody),
        Some("require") if authorities.is_none() => (SslMode::Require, Trust::Anybody),
        Some("require" | "verify-ca") => (SslMode::Require, Trust::Chain(load()?)),
        Some("verify-full") => (SslMode::Require, Trust::Name(load()?)),
        Some(_) => {
            let problem = "must be disable, prefer, require, verify-ca or verify-full";
            return Err(Error::invalid("sslmode", problem));
        }
    })
}

/// A host that is known by its number alone is named by it; the driver encrypts to named ones.
fn name_hosts(config: &mut Config) {
    if config.get_hosts().is_empty() {
        for number in config.get_hostaddrs().to_vec() {
            config.host(number.to_string());
        }
    }
}

fn is_local(config: &Config) -> bool {
    let is_socket = |host: &Host| matches!(host, Host::Unix(_));
    config.get_hostaddrs().is_empty() && config.get_hosts().iter().all(is_socket)
}

/// An address in the pieces that the driver would see.
struct Parts<'a> {
    scheme: &'a str,
    credentials: Option<Cow<'a, str>>,
    host_and_name: &'a str,
    params: Vec<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(url: &'a str) -> Result<Self> {
        let (scheme, rest) = url
            .split_once("://")
            .filter(|(scheme, _)| ["postgres", "postgresql"].contains(scheme))
            .ok_or_else(misshapen)?;
        // A password may hold anything but an @, so the rest begins behind the first one.
        let (credentials, rest) = match rest.split_once('@') {
            Some((credentials, rest)) => (Some(credentials.into()), rest),
            None => (None, rest),
        };
        let (host_and_name, query) = rest.split_once('?').unwrap_or((rest, ""));
        let params = query.split('&').filter(|param| !param.is_empty()).collect();
        Ok(Self { scheme, credentials, host_and_name, params })
    }

    /// Takes a parameter out; of several the last one counts.
    fn take(&mut self, wanted: &str) -> Result<Option<String>> {
        let mut taken = None;
        for param in std::mem::take(&mut self.params) {
            match param.split_once('=') {
                Some((name, value)) if decode(name)? == wanted => {
                    taken = Some(decode(value)?.into_owned());
                }
                _ => self.params.push(param),
            }
        }
        Ok(taken)
    }
}

impl std::fmt::Display for Parts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://", self.scheme)?;
        if let Some(credentials) = &self.credentials {
            write!(f, "{credentials}@")?;
        }
        f.write_str(self.host_and_name)?;
        for (number, param) in self.params.iter().enumerate() {
            write!(f, "{}{param}", if number == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

fn decode(text: &str) -> Result<Cow<'_, str>> {
    percent_decode_str(text).decode_utf8().map_err(|error| misshapen().caused_by(error))
}

/// A user's name as a part of an address.
fn encode(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    name.bytes()
        .map(|byte| if plain(byte) { char::from(byte).into() } else { format!("%{byte:02X}") })
        .collect()
}

fn misshapen() -> Error {
    let detail = "the address of the database must read like postgres://user@host/name, with \
                  parameters that PostgreSQL knows";
    Error::new(Code::InvalidField, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str) -> String {
        let error = Address::parse(url).err().unwrap();
        assert_eq!(error.code(), Code::InvalidField, "{url}");
        let text = format!("{error} {error:?}");
        assert!(!text.contains("hush"), "{text}");
        text
    }

    #[test]
    fn an_address_gets_another_user() {
        for (owner, runtime) in [
            ("postgres://me:secret@host:5432/db?a=b", "postgres://r%20t:pw@host:5432/db?a=b"),
            ("postgresql://host/db", "postgresql://r%20t:pw@host/db"),
            ("postgres://me@%2Ftmp%2Fx:1/db", "postgres://r%20t:pw@%2Ftmp%2Fx:1/db"),
            ("postgres://me:a/b?c@host/db", "postgres://r%20t:pw@host/db"),
            ("postgres://host?user=me&password=secret", "postgres://r%20t:pw@host"),
            (
                "postgres://me@h/db?sslmode=verify-full&password=x&sslrootcert=%2Fca.pem",
                "postgres://r%20t:pw@h/db?sslmode=verify-full&sslrootcert=%2Fca.pem",
            ),
        ] {
            assert_eq!(with_user(owner, "r t", "pw").unwrap(), runtime);
        }
        assert!(with_user("host=x", "r", "p").is_err());
    }

    #[test]
    fn the_mode_is_that_of_libpq() {
        for (url, mode) in [
            ("postgres://u:hush@h/d", SslMode::Prefer),
            ("postgres://u:hush@h/d?sslmode=disable", SslMode::Disable),
            ("postgres://u:hush@h/d?sslmode=prefer", SslMode::Prefer),
            ("postgres://u:hush@h/d?sslmode=require&connect_timeout=3", SslMode::Require),
            ("postgres://u:hush@h/d?sslmode=disable&sslmode=require", SslMode::Require),
            ("postgres://u:hush@h/d?ssl%6Dode=requir%65", SslMode::Require),
            ("postgres://u:sslmode=disable?&@h/d?sslmode=require", SslMode::Require),
            ("postgres:///d?hostaddr=10.0.0.1&sslmode=require", SslMode::Require),
            ("postgres://u@%2Ftmp%2Fx/d?sslmode=require", SslMode::Disable),
        ] {
            let config = Address::parse(url).unwrap().config;
            assert_eq!(config.get_ssl_mode(), mode, "{url}");
        }
        let config = Address::parse("postgres:///d?hostaddr=10.0.0.1").unwrap().config;
        assert_eq!(config.get_hosts(), [Host::Tcp("10.0.0.1".to_owned())]);
    }

    #[test]
    fn what_cannot_be_understood_is_refused_without_the_password() {
        for (url, problem) in [
            ("host=h user=u password=hush", "must read like postgres://"),
            ("mysql://u:hush@h/d", "must read like postgres://"),
            ("postgres://u:hush@h/d?nonsense=hush", "must read like postgres://"),
            ("postgres://u:hush@h/d?sslmode=%ff", "must read like postgres://"),
            ("postgres://u:hush@h/d?sslmode=hush", "sslmode: must be disable, prefer"),
            ("postgres://u:hush@h/d?sslmode=allow", "sslmode: must be disable, prefer"),
            ("postgres://u:hush@h/d?sslrootcert=/ca.pem", "sslrootcert: is of no effect"),
            (
                "postgres://u:hush@h/d?sslmode=prefer&sslrootcert=/ca.pem",
                "sslrootcert: is of no effect",
            ),
        ] {
            let text = refusal(url);
            assert!(text.contains(problem), "{url}: {text}");
        }
    }

    #[test]
    fn authorities_that_cannot_be_had_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).display().to_string();
        std::fs::write(path("empty"), "").unwrap();
        std::fs::write(path("text"), "no certificate\n").unwrap();
        let broken = "-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----\n";
        std::fs::write(path("broken"), broken).unwrap();
        let noise = "-----BEGIN CERTIFICATE-----\naHVzaA==\n-----END CERTIFICATE-----\n";
        std::fs::write(path("noise"), noise).unwrap();
        for (name, problem) in [
            ("absent", "cannot be read"),
            ("", "cannot be read"),
            ("empty", "holds no certificate"),
            ("text", "holds no certificate"),
            ("broken", "is not a file of certificates in PEM"),
            ("noise", "is not a file of certificates in PEM"),
        ] {
            for mode in ["require", "verify-ca", "verify-full"] {
                let path = path(name);
                let text =
                    refusal(&format!("postgres://u:hush@h/d?sslrootcert={path}&sslmode={mode}"));
                assert!(text.contains(&path) && text.contains(problem), "{text}");
            }
        }
    }
}
