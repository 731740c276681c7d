//! A browser that runs no script: it keeps its cookie, sends forms with what stands in them, and says where it
//! comes from.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, header};
use hedgerow_console::Console;
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

/// What a test's console is called.
pub(crate) const HOST: &str = "127.0.0.1:7480";

pub(crate) struct Browser {
    router: Router,
    pub(crate) cookie: Option<String>,
    pub(crate) csrf: String,
    pub(crate) host: String,
    pub(crate) origin: Option<String>,
    /// Headers beside the usual ones.
    pub(crate) more: Vec<(&'static str, String)>,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Browser {
    pub(crate) fn new(console: &Arc<Console>) -> Self {
        Self {
            router: console.router(),
            cookie: None,
            csrf: String::new(),
            host: String::from(HOST),
            origin: Some(format!("http://{HOST}")),
            more: Vec::new(),
        }
    }

    /// A browser in which somebody has signed in.
    pub(crate) async fn signed_in(console: &Arc<Console>, name: &str, password: &str) -> Self {
        let mut browser = Self::new(console);
        let fields = [("name", name), ("password", password)];
        let answer = browser.post("/sign-in", &fields).await;
        assert_eq!(answer.status, 303, "{}", answer.text());
        let home = answer.header("location");
        let page = browser.get(&home).await;
        assert_eq!(page.status, 200, "{}", page.text());
        browser
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        let request = self.request("GET", path);
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// Asks for a page until nothing on it is under way any more.
    pub(crate) async fn settled(&mut self, path: &str) -> String {
        for _ in 0..6_000 {
            let page = self.get(path).await;
            assert_eq!(page.status, 200, "{path} {}", page.text());
            let text = page.text();
            let is_busy = ["being looked at", "being read", "being compared"];
            if !is_busy.iter().any(|words| text.contains(words)) {
                return text;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("{path} is never done");
    }

    /// Sends a form, with the word of the session that stood in the last page.
    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let csrf = self.csrf.clone();
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("csrf", &csrf).extend_pairs(fields);
        self.post_raw(
            path,
            "application/x-www-form-urlencoded",
            form.finish().into_bytes(),
        )
        .await
    }

    pub(crate) async fn post_raw(&mut self, path: &str, kind: &str, body: Vec<u8>) -> Answer {
        let mut request = self
            .request("POST", path)
            .header(header::CONTENT_TYPE, kind);
        if let Some(origin) = &self.origin {
            request = request.header(header::ORIGIN, origin);
        }
        self.send(request.body(Body::from(body)).unwrap()).await
    }

    pub(crate) async fn ask(&mut self, method: &str, path: &str) -> Answer {
        let mut request = self.request(method, path);
        if let Some(origin) = &self.origin {
            request = request.header(header::ORIGIN, origin);
        }
        self.send(request.body(Body::empty()).unwrap()).await
    }

    fn request(&self, method: &str, path: &str) -> axum::http::request::Builder {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, &self.host);
        if let Some(cookie) = &self.cookie {
            request = request.header(header::COOKIE, cookie);
        }
        for (name, value) in &self.more {
            request = request.header(*name, value);
        }
        request
    }

    async fn send(&mut self, request: Request<Body>) -> Answer {
        let is_stream = request.uri().path() == "/events";
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        // A stream of news has no end.
        let bytes = match is_stream && parts.status == 200 {
            true => Vec::new(),
            false => body.collect().await.unwrap().to_bytes().to_vec(),
        };
        let answer = Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            bytes,
        };
        if let Some(cookie) = answer.headers.get(header::SET_COOKIE) {
            let cookie = cookie
                .to_str()
                .unwrap()
                .split(';')
                .next()
                .unwrap()
                .to_owned();
            self.cookie = (!cookie.ends_with('=')).then_some(cookie);
        }
        if let Some(csrf) = answer.csrf() {
            self.csrf = csrf;
        }
        answer
    }
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> String {
        let value = self.headers.get(name);
        value.map_or_else(String::new, |value| value.to_str().unwrap().to_owned())
    }

    fn csrf(&self) -> Option<String> {
        let text = self.text();
        let (_, rest) = text.split_once("name=\"csrf\" value=\"")?;
        rest.split('"').next().map(str::to_owned)
    }
}
