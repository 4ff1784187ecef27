//! The servers that other tests rely on.

use std::net::TcpStream;

use mnemic_test_servers::Redis;

fn answers(redis: &Redis) -> bool {
    let url = redis.url();
    let (_, address) = url.rsplit_once('@').unwrap_or_default();
    TcpStream::connect(address).is_ok()
}

#[test]
fn a_server_starts_stops_and_comes_back() {
    let redis = Redis::start();
    assert!(answers(&redis));
    redis.crash();
    assert!(!answers(&redis));
    redis.restart();
    assert!(answers(&redis));
}
