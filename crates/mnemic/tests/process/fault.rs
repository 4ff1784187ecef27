//! Disks that are full, read-only or damaged.

use std::fs::{self, File, Permissions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::server::{OWN, Server, answer};
use crate::support::{BINARY, Ended, Home, is_root};

/// A shell's line that runs the binary so that a file-size limit is an error, not its end.
const LIMITED: &str = r#"trap "" XFSZ; exec "$0" "$@""#;

/// About a page of the database.
fn page_of_text(number: usize) -> String {
    format!("entry {number} {}", "of the long log ".repeat(250))
}

/// Writes until one is refused, and gives what was acknowledged and the refusal.
async fn write_until_refused(server: &Server) -> (Vec<String>, Value) {
    let mut kept = Vec::new();
    loop {
        let content = page_of_text(kept.len());
        let (status, body) = server.remember(&content).await;
        if status == 201 {
            kept.push(content);
            assert!(kept.len() < 5_000, "the disk never fills");
            continue;
        }
        assert_eq!(status, 503, "{body}");
        assert_eq!(body["code"], "store_unavailable", "{body}");
        return (kept, body);
    }
}

/// The store holds what was acknowledged, whole, and nothing else.
async fn check_contents(server: &Server, kept: &[String]) {
    let mut contents = server.contents("_global").await;
    contents.reverse();
    assert!(contents == kept, "{} kept, {} there", kept.len(), contents.len());
}

/// What a server does from the moment its disk is full until `free` makes room.
async fn survives_a_full_disk(home: &Home, server: &mut Server, words: &str, free: impl FnOnce()) {
    let (mut kept, refusal) = write_until_refused(server).await;
    assert!(!kept.is_empty(), "there was no room for anything");
    let detail = refusal["detail"].as_str().unwrap();
    assert!(detail.contains(words), "{detail}");
    for _ in 0..5 {
        assert_eq!(server.remember(&page_of_text(9_999)).await.0, 503);
    }
    let many = json!([{"content": page_of_text(9_998)}, {"content": page_of_text(9_999)}]);
    let memories = format!("{OWN}/memories");
    assert_eq!(answer(server.post(&memories, &many)).await.0, 503);
    // Reading goes on.
    check_contents(server, &kept).await;
    let recall = json!({"query": "entry 0 of the long log"});
    let (status, found) = answer(server.post(&format!("{OWN}/recall"), &recall)).await;
    assert_eq!(status, 200, "{found}");
    assert!(!found["items"].as_array().unwrap().is_empty());
    home.run(&["remember", &page_of_text(9_999)]).failed(1, words);
    assert!(home.ok(&["recall", "entry 0"]).contains("entry 0"));

    free();
    let next = page_of_text(kept.len());
    let (status, body) = server.remember(&next).await;
    assert_eq!(status, 201, "{body}");
    kept.push(next);
    check_contents(server, &kept).await;
    home.ok(&["doctor", "--thorough"]);
    server.kill();
    *server = Server::start(home);
    check_contents(server, &kept).await;
    home.ok(&["doctor", "--thorough"]);
}

#[tokio::test]
async fn a_file_that_may_not_grow_refuses_writes_until_it_may() {
    let home = Home::new();
    let mut shell = Command::new("sh");
    shell.args(["-c", LIMITED, BINARY]);
    let command = home.through(shell, &["serve", "--listen", "127.0.0.1:0"]);
    let mut server = Server::start_by(&home, command);
    let pid = server.pid().to_string();
    let limit = |bytes: &str| {
        let limit = format!("--fsize={bytes}:");
        let done = Command::new("prlimit").args(["--pid", &pid, &limit]).status().unwrap();
        assert!(done.success());
    };
    let files = fs::read_dir(home.data()).unwrap().flatten();
    let largest = files.map(|file| file.metadata().unwrap().len()).max().unwrap();
    limit(&(largest + 300_000).to_string());
    let free = || limit("unlimited");
    survives_a_full_disk(&home, &mut server, "disk", free).await;
}

/// A file system of its own, as large as wished.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Mounting is for the superuser, and not even for him in some containers.
    fn mount(size: &str) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let options = format!("size={size}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "mnemic-test"])
            .arg(dir.path())
            .output();
        if is_root() && mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(dir));
        }
        println!("no file system can be mounted here: only the file-size limit stands for it");
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

#[tokio::test]
async fn a_full_disk_refuses_writes_until_there_is_room() {
    let Some(disk) = SmallDisk::mount("3m") else { return };
    let ballast = disk.0.path().join("ballast");
    fs::write(&ballast, vec![0; 1_000_000]).unwrap();
    let home = Home::at(&disk.0.path().join("data"));
    let mut server = Server::start(&home);
    let free = || fs::remove_file(&ballast).unwrap();
    survives_a_full_disk(&home, &mut server, "the disk is full", free).await;
}

/// Stopping and starting on a full disk either works or says why not, and loses nothing.
#[tokio::test]
async fn a_full_disk_is_no_trouble_to_stop_or_start_on() {
    let Some(disk) = SmallDisk::mount("3m") else { return };
    let ballast = disk.0.path().join("ballast");
    fs::write(&ballast, vec![0; 1_000_000]).unwrap();
    let home = Home::at(&disk.0.path().join("data"));
    let mut server = Server::start(&home);
    let (kept, _) = write_until_refused(&server).await;
    fill(&disk.0.path().join("rest"));
    assert!(server.terminate().success());
    fill(&disk.0.path().join("more"));
    let ended = home.run(&["memory", "list"]);
    assert!(ended.code == Some(0) || ended.stderr.contains("No space left"), "{ended:?}");
    assert_eq!(home.token(), server.token);
    fs::remove_file(&ballast).unwrap();
    let server = Server::start(&home);
    check_contents(&server, &kept).await;
}

fn fill(path: &Path) {
    let mut file = File::create(path).unwrap();
    while file.write_all(&[0; 512]).is_ok() {}
}

#[test]
fn a_first_start_without_room_can_be_repeated() {
    let home = Home::new();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -S -f 0; {LIMITED}"), BINARY]);
    let output = home.through(shell, &["remember", "too early"]).output().unwrap();
    Ended::of(output).failed(1, "error: ");
    home.ok(&["remember", "in time"]);
    assert_eq!(home.ok(&["memory", "list"]).lines().count(), 1);

    let Some(disk) = SmallDisk::mount("60k") else { return };
    let home = Home::at(&disk.0.path().join("data"));
    home.run(&["remember", "too early"]).failed(1, "the disk is full");
    let grown = Command::new("mount").args(["-o", "remount,size=10m"]).arg(disk.0.path()).status();
    assert!(grown.unwrap().success());
    home.ok(&["remember", "in time"]);
    assert_eq!(home.ok(&["memory", "list"]).lines().count(), 1);
}

/// The binary as somebody whom permissions bind: the superuser without his powers.
fn bound(home: &Home, arguments: &[&str]) -> Ended {
    let command = if is_root() {
        let mut setpriv = Command::new("setpriv");
        setpriv.args(["--bounding-set=-all", "--inh-caps=-all", BINARY]);
        setpriv
    } else {
        Command::new(BINARY)
    };
    Ended::of(home.through(command, arguments).output().unwrap())
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn set_modes(files: &[PathBuf], mode: u32) {
    for file in files {
        set_mode(file, mode);
    }
}

#[test]
fn a_read_only_directory_is_named_and_left_alone() {
    let home = Home::new();
    home.ok(&["remember", "kept"]);
    let before = snapshot(home.data());
    for (dir_mode, file_mode) in [(0o500, 0o400), (0o500, 0o600), (0o700, 0o400)] {
        let files: Vec<PathBuf> = before.iter().map(|(path, _)| path.clone()).collect();
        set_modes(&files, file_mode);
        set_mode(home.data(), dir_mode);
        for arguments in
            [&["remember", "lost"][..], &["recall", "kept"], &["serve", "--listen", "127.0.0.1:0"]]
        {
            let ended = bound(&home, arguments);
            assert_eq!((ended.code, &*ended.stdout), (Some(1), ""), "{ended:?}");
            let reason = ended.stderr.to_lowercase();
            assert!(reason.contains("permission") || reason.contains("read-only"), "{reason}");
        }
        let doctor = bound(&home, &["doctor"]);
        assert_eq!(doctor.code, Some(1), "{doctor:?}");
        assert!(doctor.stdout.contains("WRONG  store"), "{doctor:?}");
        set_mode(home.data(), 0o700);
        set_modes(&files, 0o600);
        assert!(snapshot(home.data()) == before, "something was written");
    }
    assert!(bound(&home, &["memory", "list"]).succeeded().contains("kept"));
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let closed = tempfile::tempdir().unwrap();
    set_mode(closed.path(), 0o500);
    let home = Home::at(&closed.path().join("data"));
    let ended = bound(&home, &["remember", "lost"]);
    ended.failed(1, "cannot be made");
    assert!(ended.stderr.contains("/data"), "{ended:?}");
    let file = closed.path().join("file");
    fs::write(&file, "not a directory").unwrap();
    Home::at(&file).run(&["remember", "lost"]).failed(1, "cannot be made");
}

/// Everything in a directory.
fn snapshot(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// A directory with a database of some hundred pages.
async fn filled() -> Home {
    let home = Home::new();
    let mut server = Server::start(&home);
    let many: Vec<_> = (0..200).map(|i| json!({"content": page_of_text(i)})).collect();
    let (status, body) = answer(server.post(&format!("{OWN}/memories"), &json!(many))).await;
    assert_eq!(status, 201, "{body}");
    assert!(server.terminate().success());
    home
}

fn overwrite(file: &Path, at: u64, length: usize) {
    let mut file = File::options().write(true).open(file).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(&vec![0xa5; length]).unwrap();
}

/// Done to a file of this size.
type Damage = fn(&Path, u64);

#[tokio::test]
async fn a_damaged_database_is_reported_and_never_replaced() {
    let damages: [(&str, Damage); 5] = [
        ("no database at all", |file, _| fs::write(file, "once upon a time ".repeat(999)).unwrap()),
        ("empty", |file, _| fs::write(file, "").unwrap()),
        ("cut in the middle", |file, size| {
            File::options().write(true).open(file).unwrap().set_len(size / 2).unwrap();
        }),
        ("garbage at the start", |file, _| overwrite(file, 100, 4_000)),
        ("garbage over most of it", |file, size| {
            overwrite(file, 8_192, usize::try_from(size).unwrap() - 8_192);
        }),
    ];
    let home = filled().await;
    let whole = fs::read(home.database()).unwrap();
    for (name, damage) in damages {
        fs::write(home.database(), &whole).unwrap();
        damage(&home.database(), whole.len() as u64);
        let before = snapshot(home.data());
        let serve = home.run(&["serve", "--listen", "127.0.0.1:0"]);
        assert_eq!((serve.code, &*serve.stdout), (Some(1), ""), "{name}: {serve:?}");
        for arguments in [&["remember", "x"][..], &["recall", "entry"], &["memory", "list"]] {
            assert_eq!(home.run(arguments).code, Some(1), "{name}");
        }
        for arguments in [&["doctor"][..], &["doctor", "--thorough"]] {
            let doctor = home.run(arguments);
            assert_eq!(doctor.code, Some(1), "{name}: {doctor:?}");
            assert!(doctor.stdout.contains("WRONG  store"), "{name}: {doctor:?}");
            assert!(doctor.stdout.contains("backup"), "{name}: what to do? {doctor:?}");
            assert!(doctor.stdout.contains("mnemic.db"), "{name}: which file? {doctor:?}");
        }
        assert!(snapshot(home.data()) == before, "{name}: something was changed");
    }
    fs::write(home.database(), &whole).unwrap();
    home.ok(&["doctor", "--thorough"]);
}

/// Damage that a start cannot see is found by whoever meets it, and by the doctor.
#[tokio::test]
async fn damage_deep_inside_is_never_taken_for_an_answer() {
    let home = filled().await;
    let size = fs::metadata(home.database()).unwrap().len();
    overwrite(&home.database(), size / 8192 * 4096, 40_960);
    let before = snapshot(home.data());
    for arguments in [&["doctor"][..], &["doctor", "--thorough"]] {
        let doctor = home.run(arguments);
        assert_eq!(doctor.code, Some(1), "{doctor:?}");
        assert!(doctor.stdout.contains("WRONG"), "{doctor:?}");
    }
    let recall = home.run(&["recall", "entry"]);
    assert_eq!((recall.code, &*recall.stdout), (Some(1), ""), "{recall:?}");
    let told = recall.stderr.contains("damaged") || recall.stderr.contains("mnemic doctor");
    assert!(told, "{recall:?}");
    assert!(snapshot(home.data()) == before, "something was changed");
}
