//! Small parts that several pages have.

use std::path::Path;

use maud::{Markup, Render, html};

use super::layout::csrf;
use crate::guard::Visit;
use crate::sessions::Said;

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it should be.
    Good,
    /// Somebody is to do something.
    Wait,
    /// Not as it should be.
    Bad,
    /// Neither.
    Plain,
}

impl Tone {
    const fn class(self) -> &'static str {
        match self {
            Self::Good => "badge good",
            Self::Wait => "badge wait",
            Self::Bad => "badge bad",
            Self::Plain => "badge",
        }
    }

    /// Good or bad.
    pub(crate) const fn of(holds: bool) -> Self {
        match holds {
            true => Self::Good,
            false => Self::Bad,
        }
    }
}

/// A word or two about how something stands, which colour alone does not say.
pub(crate) fn badge(tone: Tone, words: &str) -> Markup {
    html! { span class=(tone.class()) { (words) } }
}

/// What was done, or why not.
pub(crate) fn said(said: &Said) -> Markup {
    let class = if said.is_good {
        "said good"
    } else {
        "said bad"
    };
    html! { div class=(class) role="status" { (told(&said.text)) } }
}

/// What an error says, with its next steps apart.
pub(crate) fn told(text: &str) -> Markup {
    html! {
        @for line in text.lines() {
            @match line.trim_start().strip_prefix("hint: ") {
                Some(hint) => p.hint { strong { "Next step: " } (hint) },
                None => p { (line) },
            }
        }
    }
}

/// The commands that do the same as a page.
pub(crate) fn commands(lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() {
            aside.command aria-label="The same in a shell" {
                h2 { "The same in a shell" }
                pre tabindex="0" { @for line in lines { code { (line) "\n" } } }
            }
        }
    }
}

/// A file's name as a shell reads it.
pub(crate) fn shell(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@".contains(&byte);
    match !text.is_empty() && text.bytes().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// A part of a page that is brought up to date while the page is open.
pub(crate) fn live(id: &str, body: &Markup) -> Markup {
    html! { div id=(id) data-live="" { (body) } }
}

/// A number with its name.
pub(crate) fn figure(name: &str, value: impl Render) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}

/// A button that sends a form with nothing else in it.
pub(crate) fn button(visit: &Visit, action: &str, words: &str, class: &str) -> Markup {
    html! {
        form.one method="post" action=(action) {
            (csrf(visit))
            button class=(class) type="submit" { (words) }
        }
    }
}

/// Where the officer types the password again.
pub(crate) fn password_again(id: &str) -> Markup {
    html! {
        label for=(id) { "Your password again" }
        input id=(id) type="password" name="password" autocomplete="current-password" required;
    }
}

/// Links to the pages before and after one of several.
pub(crate) fn pages(path: &str, page: usize, of: usize) -> Markup {
    html! {
        @if of > 1 {
            nav.pages aria-label="More" {
                @if page > 1 { a rel="prev" href={ (path) "?page=" (page - 1) } { "Previous" } }
                span { "Page " (page) " of " (of) }
                @if page < of { a rel="next" href={ (path) "?page=" (page + 1) } { "Next" } }
            }
        }
    }
}

/// A bar of a share, with its number beside it.
pub(crate) fn bar(share: f64) -> Markup {
    let width = (share.clamp(0.0, 1.0) * 1_000.0).round() / 10.0;
    html! {
        svg.bar viewBox="0 0 100 8" width="100" height="8" preserveAspectRatio="none" aria-hidden="true" {
            rect.all x="0" y="0" width="100" height="8" rx="2" {}
            rect.part x="0" y="0" width=(width) height="8" rx="2" {}
        }
    }
}

/// The beginning of a hash, and the whole for whoever points at it.
pub(crate) fn hash(hash: &str) -> Markup {
    let short: String = hash.chars().take(12).collect();
    html! { code.hash title=(hash) { (short) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_file_that_is_meant() {
        assert_eq!(shell(Path::new("a/site.toml")), "a/site.toml");
        assert_eq!(shell(Path::new("it's $here")), r"'it'\''s $here'");
    }

    #[test]
    fn next_steps_stand_apart_and_nothing_is_markup() {
        let text = told("wrong <b>\nhint: do <i>").into_string();
        assert_eq!(
            text,
            "<p>wrong &lt;b&gt;</p><p class=\"hint\"><strong>Next step: </strong>do &lt;i&gt;</p>"
        );
    }
}
