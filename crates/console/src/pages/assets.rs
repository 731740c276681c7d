//! `/assets/…`: the style, the script and the icon.

use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::assets::ASSETS;
use crate::extract::Path;
use crate::html::failure::Failure;

/// `GET /assets/{name}`.
pub(crate) async fn file(Path(name): Path<String>) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return Failure::absent("there is no such file").into_page();
    };
    let headers = [
        (header::CONTENT_TYPE, asset.kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (headers, asset.text).into_response()
}
