//! What an address says, as pages take it; an address that says something else gets the console's own page.

use axum::extract::{FromRequestParts, Path as PathOf, Query as QueryOf};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::html::failure::Failure;

/// What stands in the path.
pub(crate) struct Path<T>(pub(crate) T);

/// What stands behind the `?`.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let found = PathOf::from_request_parts(parts, state).await;
        let PathOf(found) = found.map_err(|_| Failure::absent("there is no such page"))?;
        Ok(Self(found))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let found = QueryOf::from_request_parts(parts, state).await;
        let QueryOf(found) = found.map_err(|_| {
            Failure::wrong(
                "what stands behind the ? of this address is no number, or not what the page knows\nhint: go back, and use the links of the page",
            )
        })?;
        Ok(Self(found))
    }
}
