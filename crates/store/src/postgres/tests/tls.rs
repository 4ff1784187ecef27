//! Encryption of the way to the database, and whom it is believed to lead to.
//!
//! The packaged server knows no TLS, so a front of our own stands before it that speaks nothing
//! else: what comes through was encrypted.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mnemic_core::Code;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::*;

/// How a client asks for encryption: eight bytes, with a number that is no version.
const REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_set_up_over_tls_is_served_over_tls() {
    let authority = Authority::new();
    let front = Front::start(authority.certificate("localhost")).await;
    let file = authority.file();
    let asked = format!("sslmode=verify-full&sslrootcert={}", file.path().display());
    let owner = front.url("localhost", &asked);
    let url = setup(&owner, false).await.unwrap().url.unwrap();
    assert!(url.ends_with(&format!("?{asked}")), "{url}");
    assert_eq!(front.encrypted(), 1);
    let engine = PostgresEngine::open(&url, Options::default(), MIGRATIONS).await.unwrap();
    assert!(engine.size_bytes().await.unwrap() > 0);
    engine.close().await;
    assert!(front.encrypted() > 1);
    let plain = refused(&front.url("localhost", "sslmode=disable")).await;
    assert!(plain.contains("connection to the database was lost"), "{plain}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_check_any_certificate_will_do() {
    let front = Front::start(Authority::new().certificate("elsewhere.test")).await;
    for (params, number) in ["sslmode=require", "sslmode=prefer", ""].into_iter().zip(1..) {
        reached(&front.url("127.0.0.1", params)).await;
        assert_eq!(front.encrypted(), number, "{params}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_tls_is_reached_only_where_that_is_allowed() {
    let plain = postgres().tcp_url("postgres");
    for params in ["", "?sslmode=prefer", "?sslmode=disable"] {
        reached(&format!("{plain}{params}")).await;
    }
    let authority = Authority::new().file();
    let path = authority.path().display();
    for params in [
        "sslmode=require".to_owned(),
        format!("sslmode=verify-ca&sslrootcert={path}"),
        format!("sslmode=verify-full&sslrootcert={path}"),
    ] {
        let refusal = refused(&format!("{plain}?{params}")).await;
        assert!(refusal.contains("offers no encryption"), "{refusal}");
    }
    // As with libpq, nothing is encrypted that does not leave the machine.
    reached(&format!("{}?sslmode=require", postgres().owner_url("postgres"))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_authority_is_checked_where_it_is_asked_for() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    let (ours_file, theirs_file) = (ours.file(), theirs.file());
    let front = Front::start(ours.certificate("elsewhere.test")).await;
    for mode in ["require", "verify-ca"] {
        let url = |file: &tempfile::NamedTempFile| {
            let path = file.path().display();
            front.url("127.0.0.1", &format!("sslmode={mode}&sslrootcert={path}"))
        };
        reached(&url(&ours_file)).await;
        let refusal = refused(&url(&theirs_file)).await;
        assert!(refusal.contains("not signed by an authority that is trusted"), "{refusal}");
    }
    assert_eq!(front.encrypted(), 2, "who is not trusted is not spoken to");
    for params in ["sslmode=verify-ca", "sslmode=verify-full&sslrootcert=system"] {
        let refusal = refused(&front.url("127.0.0.1", params)).await;
        assert!(refusal.contains("sslrootcert"), "the system does not know it: {refusal}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_name_is_checked_where_it_is_asked_for() {
    let authority = Authority::new();
    let (file, stranger) = (authority.file(), Authority::new().file());
    let full = |front: &Front, host: &str, file: &tempfile::NamedTempFile| {
        front.url(host, &format!("sslmode=verify-full&sslrootcert={}", file.path().display()))
    };
    let by_name = Front::start(authority.certificate("localhost")).await;
    reached(&full(&by_name, "localhost", &file)).await;
    let other = refused(&full(&by_name, "127.0.0.1", &file)).await;
    assert!(other.contains("certificate is not for 127.0.0.1"), "{other}");
    let unknown = refused(&full(&by_name, "localhost", &stranger)).await;
    assert!(unknown.contains("not signed by an authority that is trusted"), "{unknown}");
    let by_number = Front::start(authority.certificate("127.0.0.1")).await;
    reached(&full(&by_number, "127.0.0.1", &file)).await;
    let other = refused(&full(&by_number, "localhost", &file)).await;
    assert!(other.contains("certificate is not for localhost"), "{other}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_must_be_in_date() {
    let authority = Authority::new();
    let file = authority.file();
    let mut old = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    (old.not_before, old.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    let front = Front::start(authority.sign(&old)).await;
    let params = format!("sslmode=verify-ca&sslrootcert={}", file.path().display());
    let refusal = refused(&front.url("localhost", &params)).await;
    assert!(refusal.contains("out of date"), "{refusal}");
    reached(&front.url("localhost", "sslmode=require")).await;
}

/// `openssl req -x509` makes such ones, and PostgreSQL's manual begins with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_that_signed_itself_is_trusted_if_it_is_given() {
    let selfmade = |until| {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_after = date_time_ymd(until, 1, 1);
        Selfmade::new(&params)
    };
    let (ours, theirs, old) = (selfmade(2090), selfmade(2090), selfmade(2021));
    let full = |file: &tempfile::NamedTempFile| {
        format!("sslmode=verify-full&sslrootcert={}", file.path().display())
    };
    let front = Front::start(ours.identity()).await;
    reached(&front.url("localhost", &full(&ours.file))).await;
    let other = refused(&front.url("127.0.0.1", &full(&ours.file))).await;
    assert!(other.contains("certificate is not for 127.0.0.1"), "{other}");
    refused(&front.url("localhost", &full(&theirs.file))).await;
    let front = Front::start(old.identity()).await;
    let late = refused(&front.url("localhost", &full(&old.file))).await;
    assert!(late.contains("out of date"), "{late}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_address_asks_for_and_does_not_get_is_said() {
    let front = Front::start(Authority::new().certificate("localhost")).await;
    // The server behind the front does not see its certificate, so it cannot take part.
    let bound = refused(&front.url("localhost", "sslmode=require&channel_binding=require")).await;
    assert!(bound.contains("channel_binding"), "{bound}");
    let url = front.url("localhost", "sslmode=require").replace(":for-tests-only", "");
    let bare = refused(&url).await;
    assert!(bare.contains("lacks its host, the user or the password"), "{bare}");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read_exact(&mut [0; 8]).await;
            let _ = stream.write_all(b"S no handshake at all").await;
        }
    });
    for mode in ["prefer", "require"] {
        let url = format!("postgres://u:hush@127.0.0.1:{port}/d?sslmode={mode}");
        let refusal = refused(&url).await;
        assert!(refusal.contains("could not be encrypted"), "{refusal}");
    }
}

async fn reached(url: &str) {
    let (client, _driver) = connect::client(url).await.unwrap();
    let row = client.query_one("SELECT 41 + 1", &[]).await.unwrap();
    assert_eq!(row.get::<_, i32>(0), 42);
}

/// Every way to the database refuses alike, and none says a password.
async fn refused(url: &str) -> String {
    let open = PostgresEngine::open(url, Options::default(), MIGRATIONS);
    let (setup, open) = (setup(url, false).await.unwrap_err(), open.await.err().unwrap());
    assert_eq!(setup.to_string(), open.to_string());
    for error in [&setup, &open] {
        assert!([Code::StoreUnavailable, Code::InvalidField].contains(&error.code()), "{error}");
        let all = format!("{error} {error:?}");
        assert!(!all.contains("for-tests-only") && !all.contains("hush"), "{all}");
    }
    setup.to_string()
}

/// A certificate with whatever proves that it is the holder's.
type Identity = (CertificateDer<'static>, KeyPair);

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    fn certificate(&self, name: &str) -> Identity {
        self.sign(&CertificateParams::new(vec![name.to_owned()]).unwrap())
    }

    fn sign(&self, params: &CertificateParams) -> Identity {
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().der().clone(), key)
    }

    fn file(&self) -> tempfile::NamedTempFile {
        file(&self.pem)
    }
}

struct Selfmade {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
    file: tempfile::NamedTempFile,
}

impl Selfmade {
    fn new(params: &CertificateParams) -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let file = file(&certificate.pem());
        Self { certificate: certificate.der().clone(), key: key.serialize_der(), file }
    }

    fn identity(&self) -> Identity {
        (self.certificate.clone(), self.key.as_slice().try_into().unwrap())
    }
}

fn file(pem: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), pem).unwrap();
    file
}

/// Speaks TLS to clients and plainly to the server, for a database of its own.
struct Front {
    port: u16,
    database: String,
    encrypted: Arc<AtomicUsize>,
}

impl Front {
    async fn start((certificate, key): Identity) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let database = postgres().database("template1");
        let encrypted = Arc::new(AtomicUsize::new(0));
        let count = encrypted.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass(stream, acceptor.clone(), count.clone()));
            }
        });
        Self { port, database, encrypted }
    }

    fn url(&self, host: &str, params: &str) -> String {
        let plain = postgres().tcp_url(&self.database);
        let server = format!("127.0.0.1:{}", server_port());
        format!("{}?{params}", plain.replace(&server, &format!("{host}:{}", self.port)))
    }

    /// How many connections came through.
    fn encrypted(&self) -> usize {
        self.encrypted.load(Ordering::Relaxed)
    }
}

async fn pass(
    mut client: TcpStream,
    acceptor: TlsAcceptor,
    encrypted: Arc<AtomicUsize>,
) -> io::Result<()> {
    let mut request = [0; 8];
    client.read_exact(&mut request).await?;
    if request != REQUEST {
        return Ok(());
    }
    client.write_all(b"S").await?;
    let mut client = acceptor.accept(client).await?;
    encrypted.fetch_add(1, Ordering::Relaxed);
    let mut server = TcpStream::connect(("127.0.0.1", server_port())).await?;
    tokio::io::copy_bidirectional(&mut client, &mut server).await.map(drop)
}

fn server_port() -> u16 {
    let config: tokio_postgres::Config = postgres().tcp_url("postgres").parse().unwrap();
    config.get_ports()[0]
}
