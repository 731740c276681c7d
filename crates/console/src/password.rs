//! Passwords: what is kept of them (argon2id), and how one that is typed is held against it.
//!
//! A hash takes 19 MiB and a while, so that guesses are dear; few are made at a time, so that whoever guesses
//! does not take the machine's memory. A name that is nobody's costs the same work as one that is somebody's.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use crate::error::ConsoleError;

/// Characters of a password at least; bytes at most.
pub(crate) const SHORTEST: usize = 12;
const LONGEST: usize = 1_024;
/// Hashes that are made at a time.
const AT_A_TIME: usize = 2;
/// What the password of nobody is held against; no password has this hash.
const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5J3Mgc2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

static ROOM: Semaphore = Semaphore::const_new(AT_A_TIME);

/// Sees that a new password is not easy to guess.
pub(crate) fn see_strong(name: &str, password: &str) -> Result<(), ConsoleError> {
    let weak = |why: String| Err(ConsoleError::WeakPassword(why));
    if password.chars().count() < SHORTEST {
        return weak(format!(
            "the password is shorter than {SHORTEST} characters\nhint: a few words that nobody would put together are long and easy to type"
        ));
    }
    if password.len() > LONGEST {
        return weak(format!("the password is longer than {LONGEST} bytes"));
    }
    let lower = password.to_lowercase();
    let mut letters: Vec<char> = lower.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    if letters.len() < 5 || lower.replace(&name.to_lowercase(), "").chars().count() < SHORTEST / 2 {
        return weak(String::from(
            "the password is easy to guess: it repeats a few letters or the user's name\nhint: a few words that nobody would put together are hard to guess",
        ));
    }
    Ok(())
}

/// What is kept of a new password; one that is easy to guess is refused.
pub(crate) fn keep(name: &str, password: &str) -> Result<String, ConsoleError> {
    see_strong(name, password)?;
    let hash: PasswordHash = Argon2::default()
        .hash_password(password.as_bytes())
        .map_err(|error| ConsoleError::NoHash(format!("the password cannot be hashed: {error}")))?;
    Ok(hash.to_string())
}

/// Whether a password is the one of which `kept` was kept; with nothing kept the answer takes as long.
pub(crate) async fn is_right(password: Zeroizing<String>, kept: Option<String>) -> bool {
    let Ok(_place) = ROOM.acquire().await else {
        return false;
    };
    let checked = tokio::task::spawn_blocking(move || {
        let is_somebody = kept.is_some();
        let kept = kept.unwrap_or_else(|| NOBODY.to_owned());
        let is_right = password.len() <= LONGEST
            && Argon2::default()
                .verify_password(password.as_bytes(), kept.as_str())
                .is_ok();
        is_somebody && is_right
    });
    checked.await.unwrap_or(false)
}

/// Whether text is what [`keep`] makes.
pub(crate) fn is_kept(text: &str) -> bool {
    text.starts_with("$argon2id$") && PasswordHash::new(text).is_ok_and(|hash| hash.hash.is_some())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn right(password: &str, kept: Option<&str>) -> bool {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let password = Zeroizing::new(password.to_owned());
        runtime.block_on(is_right(password, kept.map(str::to_owned)))
    }

    #[test]
    fn a_password_is_known_again_and_no_other() {
        let kept = keep("anna", "seven green hedges").unwrap();
        assert!(is_kept(&kept) && !kept.contains("hedges"));
        assert_ne!(kept, keep("anna", "seven green hedges").unwrap());
        assert!(right("seven green hedges", Some(&kept)));
        assert!(!right("seven green hedge", Some(&kept)));
        assert!(!right("", Some(&kept)));
        assert!(!right("seven green hedges", None));
        assert!(!right(&"x".repeat(5_000), Some(&kept)));
        assert!(!is_kept("") && !is_kept("seven green hedges") && !is_kept("$argon2id$"));
    }

    /// Nobody's hash is one that takes the same work as anybody's.
    #[test]
    fn nobodys_hash_is_a_hash() {
        let (one, other) = (
            PasswordHash::new(NOBODY).unwrap(),
            keep("a", "seven green hedges"),
        );
        let other = other.unwrap();
        let other = PasswordHash::new(&other).unwrap();
        assert_eq!(
            (one.algorithm, one.version),
            (other.algorithm, other.version)
        );
        assert_eq!(one.params.to_string(), other.params.to_string());
    }

    #[test]
    fn passwords_that_are_easy_to_guess_are_refused() {
        for weak in [
            "short",
            "aaaaaaaaaaaaaaaa",
            "annaannaannaanna",
            "anna-maria-x",
        ] {
            let name = if weak.starts_with("anna-") {
                "anna-maria"
            } else {
                "anna"
            };
            assert!(keep(name, weak).is_err(), "{weak}");
        }
        assert!(keep("anna", &"long ".repeat(1_000)).is_err());
    }
}
