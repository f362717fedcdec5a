use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use mcp_server::Server;
use mcp_server::resource::Files;
use serde_json::{Value, json};

use crate::wire::Wire;

struct TempDir(PathBuf);

impl TempDir {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mcp-files-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn serve(dir: &Path) -> Server {
    let files = Files::under("docs:///", dir).unwrap().max_bytes(1000);
    let mut server = Server::new("files", "1").with_template(files.template("docs").unwrap());
    for entry in files.entries(100).unwrap() {
        server = server.with_resource(entry);
    }
    server
}

async fn read(wire: &mut Wire, uri: &str) -> Value {
    let answer = wire.call("resources/read", json!({"uri": uri})).await;
    match answer.get("error") {
        Some(error) => error["code"].clone(),
        None => answer["result"]["contents"][0].clone(),
    }
}

// Shows: RESOURCES-014, RESOURCES-016, RESOURCES-029
#[tokio::test]
async fn texts_are_sent_as_texts_and_other_files_as_bytes() {
    let dir = TempDir::new();
    dir.write("a.md", "# A");
    dir.write("deep/er/ü b#.json", "{}");
    dir.write("plain", "p");
    dir.write("img.png", [0x89, b'P', 0xff]);
    dir.write("fake.txt", [0xff]);
    let mut wire = Wire::open(&serve(&dir.0)).await;
    let encoded = "docs:///deep/er/%C3%BC%20b%23.json";
    for (uri, expected) in [
        ("docs:///a.md", json!({"mimeType": "text/markdown", "text": "# A"})),
        (encoded, json!({"mimeType": "application/json", "text": "{}"})),
        ("docs:///plain", json!({"mimeType": "text/plain", "text": "p"})),
        ("docs:///img.png", json!({"mimeType": "image/png", "blob": "iVD/"})),
        ("docs:///fake.txt", json!({"mimeType": "application/octet-stream", "blob": "/w=="})),
    ] {
        let mut found = read(&mut wire, uri).await;
        assert_eq!(found.as_object_mut().unwrap().remove("uri"), Some(json!(uri)));
        assert_eq!(found, expected, "{uri}");
    }
    let listed = wire.call("resources/list", json!({})).await;
    let resources = listed["result"]["resources"].as_array().unwrap();
    let sizes: Vec<_> = resources.iter().map(|r| (r["uri"].clone(), r["size"].clone())).collect();
    assert!(sizes.contains(&(json!(encoded), json!(2))), "{sizes:?}");
    assert!(sizes.contains(&(json!("docs:///img.png"), json!(3))));
    assert_eq!(sizes.len(), 5);
    // Another spelling of a name is the same file, by way of the template.
    assert_eq!(read(&mut wire, "docs:///deep%2Fer/ü%20b%23.json").await["text"], "{}");
}

// Shows: RESOURCES-027, FC-042
#[tokio::test]
async fn nothing_outside_is_read_however_it_is_written() {
    let outside = TempDir::new();
    outside.write("secret", "s3cret");
    let dir = TempDir::new();
    dir.write("a.txt", "a");
    dir.write("sub/b.txt", "b");
    dir.write(".env", "KEY=1");
    dir.write(".git/config", "x");
    dir.write("large", "x".repeat(1001));
    let name = outside.0.file_name().unwrap().to_str().unwrap().to_owned();
    let absolute = outside.0.join("secret").to_str().unwrap().to_owned();
    let mut uris = vec![
        format!("docs:///../{name}/secret"),
        format!("docs:///%2e%2e/{name}/secret"),
        format!("docs:///%2E%2E%2F{name}%2Fsecret"),
        format!("docs:///sub/../../{name}/secret"),
        format!("docs:///..%5C{name}%5Csecret"),
        format!("docs:///{absolute}"),
        format!("docs:///{}", absolute.replace('/', "%2F")),
        "docs:///sub/../a.txt".to_owned(),
        "docs:///./a.txt".to_owned(),
        "docs:///sub//b.txt".to_owned(),
        "docs:///a.txt/".to_owned(),
        "docs:///a.txt/b".to_owned(),
        "docs:///a.txt%00".to_owned(),
        "docs:///a.txt%0A".to_owned(),
        "docs:///sub".to_owned(),
        "docs:///".to_owned(),
        "docs:///.env".to_owned(),
        "docs:///.git/config".to_owned(),
        "docs:///%252e%252e/x".to_owned(),
        format!("docs:///{}", "a".repeat(5000)),
        "docs:///none.txt".to_owned(),
    ];
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(&outside.0, dir.0.join("out")).unwrap();
        symlink(outside.0.join("secret"), dir.0.join("link")).unwrap();
        symlink(dir.0.join(".env"), dir.0.join("env")).unwrap();
        symlink(dir.0.join("loop"), dir.0.join("loop")).unwrap();
        symlink(dir.0.join("sub"), dir.0.join("inner")).unwrap();
        for uri in ["docs:///out/secret", "docs:///link", "docs:///env", "docs:///loop"] {
            uris.push(uri.to_owned());
        }
    }
    let mut wire = Wire::open(&serve(&dir.0)).await;
    for uri in &uris {
        assert_eq!(read(&mut wire, uri).await, -32002, "{uri}");
    }
    assert_eq!(read(&mut wire, "docs:///large").await, -32603);
    assert_eq!(read(&mut wire, "docs:///sub/b.txt").await["text"], "b");
    #[cfg(unix)]
    assert_eq!(
        read(&mut wire, "docs:///inner/b.txt").await["text"],
        "b",
        "a link that stays inside"
    );
    let listed = wire.call("resources/list", json!({})).await.to_string();
    assert!(!listed.contains(".env") && !listed.contains("secret"), "{listed}");
}

#[tokio::test]
async fn hidden_files_are_served_where_that_is_meant_and_nothing_else() {
    let dir = TempDir::new();
    dir.write("a.txt", "a");
    dir.write("sub/.b", "b");
    let files = Files::under("docs:///", &dir.0).unwrap().hidden(true);
    let server = Server::new("files", "1").with_template(files.template("docs").unwrap());
    let mut wire = Wire::open(&server).await;
    assert_eq!(read(&mut wire, "docs:///sub/.b").await["text"], "b");
    for uri in ["docs:///sub/../a.txt", "docs:///./a.txt", "docs:///..", "docs:///sub/%2E%2E/a.txt"]
    {
        assert_eq!(read(&mut wire, uri).await, -32002, "{uri}");
    }
    assert_eq!(files.entries(10).unwrap().len(), 2);
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_no_regular_file_is_not_opened() {
    let dir = TempDir::new();
    let status = std::process::Command::new("mkfifo").arg(dir.0.join("pipe")).status();
    assert!(status.is_ok_and(|status| status.success()));
    // A socket.
    let _socket = std::os::unix::net::UnixListener::bind(dir.0.join("socket")).unwrap();
    let mut wire = Wire::open(&serve(&dir.0)).await;
    for uri in ["docs:///pipe", "docs:///socket"] {
        assert_eq!(read(&mut wire, uri).await, -32002, "{uri}");
    }
}

#[test]
fn what_is_to_be_listed_is_bounded() {
    let dir = TempDir::new();
    for number in 0..5 {
        dir.write(&format!("{number}"), "");
    }
    let files = Files::under("docs:///", &dir.0).unwrap();
    assert_eq!(files.entries(5).unwrap().len(), 5);
    assert!(files.entries(4).is_err());
    assert!(Files::under("docs:///", dir.0.join("0")).is_err());
    assert!(Files::under("docs:///", dir.0.join("none")).is_err());
}
