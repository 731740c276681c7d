//! A page that says why there is no other page, and what to do.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hedgerow::Error;
use maud::html;

use super::layout::bare;
use super::parts::told;
use crate::error::ConsoleError;
use crate::role::Role;

/// Why somebody does not get what was asked for.
#[derive(Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    title: &'static str,
    why: String,
    /// Seconds to wait.
    wait: Option<u64>,
}

impl Failure {
    const fn new(status: StatusCode, title: &'static str, why: String) -> Self {
        Self {
            status,
            title,
            why,
            wait: None,
        }
    }

    /// There is no such thing.
    pub(crate) fn absent(why: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "Not here", why.to_owned())
    }

    /// A page that is not answered in this way.
    pub(crate) fn method() -> Self {
        let why = "this address is not asked in this way\nhint: go back, and use the page";
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "Not in this way",
            why.to_owned(),
        )
    }

    /// Not allowed.
    pub(crate) fn forbidden(why: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "Not allowed", why.to_owned())
    }

    /// Not for this role.
    pub(crate) fn role(role: Role) -> Self {
        let why = format!("this is not for the role {role}, which {}", role.words());
        Self::new(StatusCode::FORBIDDEN, "Not for you", why)
    }

    /// The request came under another name.
    pub(crate) fn misdirected(address: &str) -> Self {
        let why = format!(
            "this console is not called so\nhint: it is at {address}; names in [console] of the site's file lists other names"
        );
        Self::new(StatusCode::MISDIRECTED_REQUEST, "Not here", why)
    }

    /// More was sent than a page takes, or too slowly.
    pub(crate) fn too_long(most: usize) -> Self {
        let why = format!("what was sent is longer than {most} bytes, or came too slowly");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "Too long", why)
    }

    /// Something else than a form was sent.
    pub(crate) fn kind() -> Self {
        let why = String::from("what was sent is no form");
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "No form", why)
    }

    /// What was sent cannot be meant.
    pub(crate) fn wrong(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "This cannot be", why.into())
    }

    /// Too many passwords were tried.
    pub(crate) fn slow(wait: Duration) -> Self {
        let seconds = wait.as_secs() + 1;
        let why =
            format!("too many passwords were tried\nhint: wait {seconds} seconds and try again");
        Self {
            wait: Some(seconds),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, "Wait", why)
        }
    }

    /// A panic.
    pub(crate) fn mistake() -> Self {
        let why = "this is a mistake in hedgerow, not in what you did\nhint: please report it with what you did; what the program said stands on its standard error";
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "A mistake",
            why.to_owned(),
        )
    }

    /// The number that says it to a browser.
    pub(crate) const fn status(&self) -> StatusCode {
        self.status
    }

    /// Why, with the next step.
    pub(crate) fn why(&self) -> &str {
        &self.why
    }

    /// The page.
    pub(crate) fn into_page(self) -> Response {
        let page = bare(
            self.title,
            &html! {
                h1 { (self.title) }
                (told(&self.why))
                p { a href="/" { "To the first page" } }
            },
        );
        let mut response = (self.status, page).into_response();
        if let Some(seconds) = self.wait {
            let value = HeaderValue::from(seconds);
            response.headers_mut().insert(header::RETRY_AFTER, value);
        }
        response
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        self.into_page()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let why = error.without_values();
        Self::new(StatusCode::CONFLICT, "This cannot be done now", why)
    }
}

impl From<ConsoleError> for Failure {
    fn from(error: ConsoleError) -> Self {
        match error {
            ConsoleError::Engine(error) => error.into(),
            other => Self::new(
                StatusCode::CONFLICT,
                "This cannot be done now",
                other.to_string(),
            ),
        }
    }
}
