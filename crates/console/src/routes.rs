//! Every page there is, who may ask for it, and how long what is sent to it may be: the one table of them. A
//! request that no line of it allows is refused before any page hears of it.

use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use tower_http::catch_panic::CatchPanicLayer;

use crate::console::Console;
use crate::guard;
use crate::html::failure::Failure;
use crate::pages::{
    assets, audit, draft, first, ledger, overview, query, release, releases, run, runs, set_up,
    sign_in, study, users,
};
use crate::role::Role;
use crate::{events, headers};

/// Bytes of a form, of one with a statement in it, and of one with a study's text or a taxonomy.
pub(crate) const FORM: usize = 16 << 10;
const STATEMENT: usize = 64 << 10;
const TEXT: usize = 1 << 20;
/// What a form with a table has beside the table.
const AROUND: usize = 64 << 10;

/// A page, or what is done by a form.
pub struct Route {
    /// Whether something may change by it: a form is sent to it, and otherwise it is read.
    pub is_form: bool,
    /// The path, with names in braces for what differs.
    pub path: &'static str,
    /// Who may ask for it.
    pub who: Who,
    /// Bytes that may be sent to it.
    pub most: usize,
    /// Whether a file is sent with the form.
    pub has_file: bool,
    answer: fn() -> MethodRouter<Arc<Console>>,
}

/// Who may ask for a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// Anybody who reaches the console.
    Anybody,
    /// Whoever has signed in with one of these roles.
    Only(&'static [Role]),
}

const STEWARD: Who = Who::Only(&[Role::Steward]);
const ASKING: Who = Who::Only(&[Role::Steward, Role::Officer, Role::Analyst]);
const OFFICER: Who = Who::Only(&[Role::Officer]);
const WORKING: Who = Who::Only(&[Role::Steward, Role::Officer]);
/// Those who read about the site; analysts see what was released alone.
const READING: Who = Who::Only(&[Role::Steward, Role::Officer, Role::Auditor]);
const ALL: Who = Who::Only(&Role::ALL);

impl Route {
    const fn page(
        path: &'static str,
        who: Who,
        answer: fn() -> MethodRouter<Arc<Console>>,
    ) -> Self {
        Self {
            is_form: false,
            path,
            who,
            most: 0,
            has_file: false,
            answer,
        }
    }

    const fn form(
        path: &'static str,
        who: Who,
        answer: fn() -> MethodRouter<Arc<Console>>,
    ) -> Self {
        Self {
            is_form: true,
            path,
            who,
            most: FORM,
            has_file: false,
            answer,
        }
    }

    /// A form that may be longer than others.
    const fn at_most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// A form with a file.
    const fn with_file(self) -> Self {
        Self {
            has_file: true,
            ..self
        }
    }
}

/// The table.
pub static ROUTES: &[Route] = &[
    Route::page("/assets/{name}", Who::Anybody, || get(assets::file)),
    Route::page("/sign-in", Who::Anybody, || get(sign_in::page)),
    Route::form("/sign-in", Who::Anybody, || post(sign_in::enter)),
    Route::page("/first/{token}", Who::Anybody, || get(first::page)),
    Route::form("/first/{token}", Who::Anybody, || post(first::enter)),
    Route::form("/sign-out", ALL, || post(sign_in::leave)),
    Route::page("/events", ALL, || get(events::stream)),
    Route::page("/", READING, || get(overview::page)),
    Route::page("/set-up", READING, || get(set_up::page)),
    Route::form("/set-up/key", STEWARD, || post(set_up::make_key)),
    Route::page("/draft", READING, || get(draft::page)),
    Route::form("/draft/begin", STEWARD, || post(draft::begin)),
    Route::form("/draft/upload", STEWARD, || post(draft::upload))
        .at_most(draft::LONGEST_TABLE + AROUND)
        .with_file(),
    Route::form("/draft/roles", STEWARD, || post(draft::set_roles)).at_most(TEXT),
    Route::form("/draft/text", STEWARD, || post(draft::set_text)).at_most(TEXT),
    Route::page("/draft/columns/{number}", READING, || get(draft::column)),
    Route::form("/draft/columns/{number}", STEWARD, || {
        post(draft::set_column)
    })
    .at_most(TEXT),
    Route::form("/draft/compare", STEWARD, || post(draft::compare)),
    Route::form("/draft/choose", STEWARD, || post(draft::choose)),
    Route::form("/draft/save", STEWARD, || post(draft::save)),
    Route::form("/draft/discard", STEWARD, || post(draft::discard)),
    Route::page("/study", READING, || get(study::page)),
    Route::form("/study/look", WORKING, || post(study::look_again)),
    Route::form("/study/sign", OFFICER, || post(study::sign)),
    Route::form("/study/decline", OFFICER, || post(study::decline)),
    Route::page("/runs", READING, || get(runs::page)),
    Route::page("/runs/{number}", READING, || get(run::page)),
    Route::form("/runs/{number}/start", STEWARD, || post(run::start)),
    Route::form("/runs/{number}/approve", OFFICER, || post(run::approve)),
    Route::form("/runs/{number}/refuse", OFFICER, || post(run::refuse)),
    Route::form("/runs/{number}/give-up", WORKING, || post(run::give_up)),
    Route::page("/releases", ALL, || get(releases::page)),
    Route::page("/releases/{number}", ALL, || get(release::page)),
    Route::page("/releases/{number}/report", ALL, || get(release::report)),
    Route::page("/releases/{number}/files/{name}", ALL, || {
        get(release::file)
    }),
    Route::form("/releases/{number}/gate", WORKING, || post(release::gate)),
    Route::form("/releases/{number}/alone", WORKING, || post(release::alone)),
    Route::page("/query", ALL, || get(query::page)),
    Route::form("/query", ASKING, || post(query::answer)).at_most(STATEMENT),
    Route::form("/query/keep", ASKING, || post(query::keep)).at_most(STATEMENT),
    Route::form("/query/remove", ASKING, || post(query::remove)),
    Route::page("/ledger", READING, || get(ledger::page)),
    Route::page("/audit", READING, || get(audit::page)),
    Route::page("/audit/console.csv", READING, || get(audit::sheet)),
    Route::page("/users", READING, || get(users::page)),
    Route::form("/users/invite", OFFICER, || post(users::invite)),
    Route::form("/users/withdraw", OFFICER, || post(users::withdraw)),
    Route::form("/users/remove", OFFICER, || post(users::remove)),
];

impl Who {
    /// Whether somebody with a role may.
    pub fn has(self, role: Role) -> bool {
        match self {
            Self::Anybody => true,
            Self::Only(roles) => roles.contains(&role),
        }
    }
}

/// Whether there is a page that somebody with a role may read.
pub(crate) fn may_read(path: &str, role: Role) -> bool {
    let mut pages = ROUTES.iter().filter(|route| !route.is_form);
    pages.any(|route| route.path == path && route.who.has(role))
}

/// Whether somebody with a role may send a form.
pub(crate) fn may_send(path: &str, role: Role) -> bool {
    let mut forms = ROUTES.iter().filter(|route| route.is_form);
    forms.any(|route| route.path == path && route.who.has(role))
}

impl Console {
    /// All pages, behind the guard.
    pub fn router(self: &Arc<Self>) -> Router {
        let mut router = Router::new();
        for route in ROUTES {
            let guarded = from_fn_with_state((Arc::clone(self), route), guard::guard);
            router = router.route(route.path, (route.answer)().layer(guarded));
        }
        let nowhere = from_fn_with_state(Arc::clone(self), guard::nowhere);
        let is_tls = self.is_tls();
        router
            .fallback(|| async { Failure::absent("there is no such page").into_page() })
            .method_not_allowed_fallback(|| async { Failure::method().into_page() })
            .layer(nowhere)
            .with_state(Arc::clone(self))
            .layer(CatchPanicLayer::custom(|_| Failure::mistake().into_page()))
            .layer(map_response(move |response: Response| async move {
                headers::add(response, is_tls)
            }))
    }
}
