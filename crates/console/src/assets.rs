//! The one style, the one script and the icon, inside the program. Their addresses change with what they say,
//! so that browsers keep them and never show an old one.

use std::sync::LazyLock;

/// The icon's address.
pub(crate) const ICON: &str = "/assets/hedge.svg";

/// A file that browsers load.
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) text: &'static str,
}

/// All of them.
pub(crate) const ASSETS: [Asset; 3] = [
    Asset {
        name: "console.css",
        kind: "text/css; charset=utf-8",
        text: include_str!("../assets/console.css"),
    },
    Asset {
        name: "console.js",
        kind: "text/javascript; charset=utf-8",
        text: include_str!("../assets/console.js"),
    },
    Asset {
        name: "hedge.svg",
        kind: "image/svg+xml",
        text: include_str!("../assets/hedge.svg"),
    },
];

static STYLE: LazyLock<String> = LazyLock::new(|| address(&ASSETS[0]));
static SCRIPT: LazyLock<String> = LazyLock::new(|| address(&ASSETS[1]));

/// The style's address.
pub(crate) fn style() -> &'static str {
    &STYLE
}

/// The script's address.
pub(crate) fn script() -> &'static str {
    &SCRIPT
}

fn address(asset: &Asset) -> String {
    let hash = blake3::hash(asset.text.as_bytes()).to_hex();
    format!("/assets/{}?v={}", asset.name, &hash[..12])
}
