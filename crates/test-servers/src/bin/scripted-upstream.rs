//! The scripted endpoint on its own, for clients that are not tests of this workspace. Prints its
//! address and serves until it is ended.

#![expect(clippy::print_stdout, reason = "it says where it listens")]

use mnemic_test_servers::{Behaviour, Upstream};

fn main() {
    let upstream = Upstream::start();
    println!("{}", upstream.url(Behaviour::Good));
    loop {
        std::thread::park();
    }
}
