//! A server of OpenAI's protocol on the loopback interface, which records its requests and answers as a test requires.
//! Knows nothing of scorebox.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Its headers, with names in lower case.
    pub headers: HashMap<String, String>,
    pub body: Value,
}

impl Asked {
    /// The header `authorization`.
    pub(crate) fn authorization(&self) -> Option<&str> {
        self.headers.get("authorization").map(String::as_str)
    }

    /// The last message, or the first text whose embedding is requested.
    pub(crate) fn text(&self) -> &str {
        let messages = self.body["messages"].as_array();
        let last = messages.and_then(|messages| messages.last()?["content"].as_str());
        last.or(self.body["input"][0].as_str()).unwrap_or_default()
    }
}

/// The response of a server whose model refuses.
pub(crate) const REFUSES: &str = "(refuses)";

/// The same of a server that does not count tokens.
pub(crate) const REFUSES_UNCOUNTED: &str = "(refuses, uncounted)";

/// The response of a gateway whose model fails while it answers, and which does not count the tokens of that.
pub(crate) const FAILS: &str = "(fails)";

/// The response of a server that does not count tokens.
pub(crate) const UNCOUNTED: &str = "1e0";

/// The response of a gateway that counts tokens, and charges nothing because the model's own server is paid elsewhere.
pub(crate) const CHARGED_ELSEWHERE: &str = "1e00";

type Answering = Box<dyn Fn(&Asked) -> (u16, String) + Send + Sync>;

/// A server, until it is dropped.
pub(crate) struct ModelServer {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    answering: Arc<Mutex<Option<Answering>>>,
}

impl ModelServer {
    /// A server that returns the result of `says` for each question.
    pub(crate) fn saying(says: impl Fn(&Asked) -> String + Send + Sync + 'static) -> ModelServer {
        ModelServer::answering(move |asked| (200, says(asked)))
    }

    /// A server that answers with this status and text; with a status other than 200, the text is the message of an
    /// error.
    pub(crate) fn answering(
        answer: impl Fn(&Asked) -> (u16, String) + Send + Sync + 'static,
    ) -> ModelServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let answering = Arc::new(Mutex::new(Some(Box::new(answer) as Answering)));
        let shared = (Arc::clone(&asked), Arc::clone(&answering));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (asked, answering) = shared.clone();
                if answering.lock().unwrap().is_none() {
                    return;
                }
                thread::spawn(move || serve(stream, &asked, &answering));
            }
        });
        ModelServer { address, asked, answering }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        *self.answering.lock().unwrap() = None;
        // Wakes the listener, which notices that it must end.
        let _ = TcpStream::connect(self.address);
    }
}

/// Serves the requests of one connection, one after another.
fn serve(stream: TcpStream, all: &Mutex<Vec<Asked>>, answering: &Mutex<Option<Answering>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let (mut headers, mut line) = (HashMap::new(), String::new());
        loop {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                if line.trim().is_empty() {
                    break;
                }
                continue;
            };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let length = headers.get("content-length").map(|length| length.parse().unwrap());
        let mut body = vec![0; length.unwrap_or_default()];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let asked = Asked { headers, body: serde_json::from_slice(&body).unwrap() };
        all.lock().unwrap().push(asked.clone());
        let Some((status, text)) = answering.lock().unwrap().as_ref().map(|answer| answer(&asked))
        else {
            return;
        };
        let body = reply(&asked.body, status, &text).to_string();
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        if writer.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}

fn reply(asked: &Value, status: u16, text: &str) -> Value {
    if status != 200 {
        return json!({"error": {"message": text}});
    }
    let model = format!("{}-2026", asked["model"].as_str().unwrap_or_default());
    if let Some(texts) = asked["input"].as_array() {
        let vectors = texts.iter().enumerate().map(|(index, text)| {
            json!({"index": index, "embedding": [text.as_str().unwrap_or_default().len(), 1]})
        });
        let data: Vec<Value> = vectors.collect();
        return json!({"model": model, "data": data, "usage": {"prompt_tokens": 3}});
    }
    if text == FAILS {
        let choice =
            json!({"error": {"code": 502, "message": "upstream"}, "finish_reason": "error"});
        return json!({"model": model, "choices": [choice]});
    }
    let message = match text {
        REFUSES | REFUSES_UNCOUNTED => {
            json!({"role": "assistant", "content": null, "refusal": "I cannot."})
        }
        text => json!({"role": "assistant", "content": text}),
    };
    let usage = match text {
        UNCOUNTED | REFUSES_UNCOUNTED => Value::Null,
        CHARGED_ELSEWHERE => json!({"prompt_tokens": 12, "completion_tokens": 2, "cost": 0}),
        _ => json!({"prompt_tokens": 12, "completion_tokens": 2}),
    };
    json!({
        "model": model,
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": usage,
    })
}
