//! As much of GitHub's interface as `gh` asks for when it lists and opens pull requests.
//!
//! Owns a server on the loopback that `gh` reaches as its proxy, since it speaks plain HTTP to
//! `github.localhost` only, and the requests that were opened there.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

use flagpost_testkit::patience::patience;
use serde_json::{Value, json};

/// A pull request.
#[derive(Debug, Clone)]
pub struct Opened {
    pub head: String,
    pub base: String,
    pub title: String,
    pub body: String,
    /// The commit of the branch, and that of the target, once it is merged.
    pub merged: Option<(String, String)>,
}

#[derive(Debug, Default)]
struct Kept {
    opened: Vec<Opened>,
    is_locked: bool,
    refused: Option<String>,
    is_over: bool,
}

/// The server.
#[derive(Debug)]
pub struct GitHub {
    address: SocketAddr,
    kept: Arc<Mutex<Kept>>,
    thread: Option<JoinHandle<()>>,
}

impl GitHub {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let kept = Arc::<Mutex<Kept>>::default();
        let shared = Arc::clone(&kept);
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if lock(&shared).is_over {
                    return;
                }
                // A client that went away is no fault of the server.
                let _ = serve(stream.unwrap(), &shared);
            }
        });
        Self {
            address,
            kept,
            thread: Some(thread),
        }
    }

    /// What `HTTP_PROXY` is to be.
    pub fn proxy(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests that were opened, the oldest first.
    pub fn opened(&self) -> Vec<Opened> {
        lock(&self.kept).opened.clone()
    }

    /// Knows nobody from now on.
    pub fn lock_out(&self, is_locked: bool) {
        lock(&self.kept).is_locked = is_locked;
    }

    /// Opens no request of this branch from now on.
    pub fn refuse(&self, head: &str) {
        lock(&self.kept).refused = Some(head.to_owned());
    }

    /// Merges the request of this branch: its commit, and that of the target.
    pub fn merge(&self, head: &str, tip: &str, commit: &str) {
        let mut kept = lock(&self.kept);
        let it = kept.opened.iter_mut().find(|it| it.head == head).unwrap();
        it.merged = Some((tip.to_owned(), commit.to_owned()));
    }
}

impl Drop for GitHub {
    fn drop(&mut self) {
        lock(&self.kept).is_over = true;
        // Wakes the thread.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Where a request is seen.
pub fn url(number: usize) -> String {
    format!("http://github.localhost/o/r/pull/{number}")
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(mut stream: TcpStream, kept: &Mutex<Kept>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(patience()))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut length, mut line) = (0, String::new());
    while reader.read_line(&mut line)? > 2 {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or_default();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let asked = serde_json::from_slice(&body).unwrap_or_default();
    let (status, answer) = answer(&asked, &mut lock(kept));
    let answer = answer.to_string();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
        answer.len()
    )
}

fn answer(asked: &Value, kept: &mut Kept) -> (&'static str, Value) {
    if kept.is_locked {
        return ("401 Unauthorized", json!({"message": "Bad credentials"}));
    }
    let (query, given) = (
        asked["query"].as_str().unwrap_or_default(),
        &asked["variables"],
    );
    let is_refused = kept.refused.as_deref() == given["input"]["headRefName"].as_str();
    if kept.refused.is_some() && is_refused {
        return (
            "200 OK",
            json!({"errors": [{"message": "not of this branch"}]}),
        );
    }
    let data = if query.contains("createPullRequest") {
        json!({"createPullRequest": {"pullRequest": open(&given["input"], kept)}})
    } else if query.contains("pullRequests(") {
        let states = given["state"].as_array().or(given["states"].as_array());
        let is_wanted = |it: &Value| {
            let head = given.get("headBranch").or(given.get("headRefName"));
            let base = given.get("baseBranch");
            head.is_none_or(|head| *head == it["headRefName"])
                && base.is_none_or(|base| *base == it["baseRefName"])
                && states.is_none_or(|states| states.contains(&it["state"]))
        };
        let all = kept.opened.iter().enumerate().map(|(n, it)| shown(n, it));
        let nodes: Vec<Value> = all.filter(is_wanted).collect();
        json!({"repository": {"pullRequests": {
            "totalCount": nodes.len(),
            "nodes": nodes,
            "pageInfo": {"hasNextPage": false, "endCursor": ""},
        }}})
    } else {
        json!({"repository": {
            "id": "R",
            "name": "r",
            "owner": {"login": "o"},
            "viewerPermission": "WRITE",
            "defaultBranchRef": {"name": "main"},
        }})
    };
    ("200 OK", json!({ "data": data }))
}

fn open(input: &Value, kept: &mut Kept) -> Value {
    let text = |key: &str| input[key].as_str().unwrap_or_default().to_owned();
    kept.opened.push(Opened {
        head: text("headRefName"),
        base: text("baseRefName"),
        title: text("title"),
        body: text("body"),
        merged: None,
    });
    json!({"id": "P", "url": url(kept.opened.len())})
}

fn shown(at: usize, it: &Opened) -> Value {
    let (state, tip) = match &it.merged {
        Some((tip, _)) => ("MERGED", &**tip),
        None => ("OPEN", ""),
    };
    json!({
        "id": "P",
        "number": at + 1,
        "url": url(at + 1),
        "state": state,
        "headRefName": it.head,
        "headRefOid": tip,
        "baseRefName": it.base,
        "isCrossRepository": false,
        "mergeCommit": it.merged.as_ref().map(|(_, commit)| json!({"oid": commit})),
    })
}
