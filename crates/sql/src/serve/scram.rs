//! SCRAM-SHA-256 (RFC 5802, RFC 7677) with verifiers as PostgreSQL stores them: the server never has a password,
//! nor anything that a password could be replaced by.
//!
//! A user that is not known goes the same way as one that is: with a salt that is always the same for the name, as
//! many iterations as a known user has, and keys that nothing fits.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::{SecureRandom, SystemRandom};
use ring::{digest, hmac, pbkdf2};
use zeroize::Zeroizing;

/// The way to authenticate.
pub(super) const METHOD: &str = "SCRAM-SHA-256";
/// The same, bound to the server's certificate: whoever stands between has another one.
pub(super) const BOUND: &str = "SCRAM-SHA-256-PLUS";
/// How a client that binds its exchange begins.
const BINDING: &str = "p=tls-server-end-point,,";
/// How often a password is hashed.
const ITERATIONS: u32 = 65_536;
/// The fewest and the most iterations that are believed of a verifier.
const BELIEVED: std::ops::RangeInclusive<u32> = 4096..=10_000_000;
const KEY: usize = digest::SHA256_OUTPUT_LEN;
/// Bytes of a salt.
const SALT: usize = 16;
/// The longest message of an exchange.
const LONGEST: usize = 2048;

/// Randomness that the machine does not give.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the machine gives no random bytes")]
pub struct NoRandomness;

/// What a password is held against.
#[derive(Clone, PartialEq, Eq)]
pub struct Verifier {
    iterations: u32,
    salt: Vec<u8>,
    stored: [u8; KEY],
    server: [u8; KEY],
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").finish_non_exhaustive()
    }
}

/// The text that `site.toml` has.
impl fmt::Display for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [salt, stored, server] =
            [&self.salt[..], &self.stored, &self.server].map(|bytes| STANDARD.encode(bytes));
        let iterations = self.iterations;
        write!(f, "{METHOD}${iterations}:{salt}${stored}:{server}")
    }
}

impl Verifier {
    /// The verifier of a password, with a salt of its own.
    pub fn of(password: &str) -> Result<Self, NoRandomness> {
        let mut salt = vec![0; SALT];
        SystemRandom::new()
            .fill(&mut salt)
            .map_err(|_| NoRandomness)?;
        // As PostgreSQL has it: what cannot be prepared is taken as it is.
        let prepared = stringprep::saslprep(password);
        let prepared =
            Zeroizing::new(prepared.map_or(password.to_owned(), |text| text.to_string()));
        let mut salted = Zeroizing::new([0; KEY]);
        let count = std::num::NonZeroU32::new(ITERATIONS).ok_or(NoRandomness)?;
        pbkdf2::derive(
            pbkdf2::PBKDF2_HMAC_SHA256,
            count,
            &salt,
            prepared.as_bytes(),
            salted.as_mut(),
        );
        let client = Zeroizing::new(keyed(salted.as_ref(), b"Client Key"));
        Ok(Self {
            iterations: ITERATIONS,
            stored: hashed(client.as_ref()),
            server: keyed(salted.as_ref(), b"Server Key"),
            salt,
        })
    }

    /// Reads a verifier.
    pub fn read(text: &str) -> Option<Self> {
        let (counted, keys) = text
            .strip_prefix(METHOD)?
            .strip_prefix('$')?
            .split_once('$')?;
        let (iterations, salt) = counted.split_once(':')?;
        let (stored, server) = keys.split_once(':')?;
        let iterations = iterations.parse().ok()?;
        let salt = STANDARD.decode(salt).ok()?;
        let key = |text: &str| <[u8; KEY]>::try_from(STANDARD.decode(text).ok()?).ok();
        let is_believed = BELIEVED.contains(&iterations) && (8..=64).contains(&salt.len());
        is_believed.then_some(Self {
            iterations,
            salt,
            stored: key(stored)?,
            server: key(server)?,
        })
    }
}

/// The users of a server.
pub(super) struct Users {
    known: Vec<(String, Verifier)>,
    /// What salts of unknown names follow from.
    secret: hmac::Key,
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Users").finish_non_exhaustive()
    }
}

impl Users {
    /// Users, and a secret that no client knows and that stays when the server starts anew.
    pub(super) fn new(known: Vec<(String, Verifier)>, secret: &[u8]) -> Self {
        let secret = hmac::Key::new(hmac::HMAC_SHA256, secret);
        Self { known, secret }
    }

    /// The verifier of a name, and whether the name is known.
    fn find(&self, name: &str) -> (Verifier, bool) {
        let made = |what: &[u8]| {
            let mut context = hmac::Context::with_key(&self.secret);
            context.update(what);
            context.update(name.as_bytes());
            let mut bytes = [0; KEY];
            bytes.copy_from_slice(context.sign().as_ref());
            bytes
        };
        // An unknown name looks like one of the known ones.
        let [a, b, ..] = made(b"like");
        let like = usize::from(u16::from_be_bytes([a, b])) % self.known.len().max(1);
        let like = self.known.get(like).map(|(_, own)| own);
        let (iterations, length) =
            like.map_or((ITERATIONS, SALT), |own| (own.iterations, own.salt.len()));
        let unknown = Verifier {
            iterations,
            salt: made(b"salt").into_iter().cycle().take(length).collect(),
            stored: made(b"stored"),
            server: made(b"server"),
        };
        let found = self.known.iter().find(|(known, _)| known == name);
        (
            found.map_or(unknown, |(_, verifier)| verifier.clone()),
            found.is_some(),
        )
    }

    /// Answers a client's first message for the user of the connection. Where there is something to bind to, a
    /// client that could and says that the server could not has been told so by somebody else.
    pub(super) fn first(
        &self,
        user: &str,
        method: &str,
        message: &[u8],
        binding: Option<&[u8]>,
    ) -> Result<(String, Exchange), Failed> {
        let message = text(message)?;
        let headers: &[(&str, &[u8])] = match (method, binding) {
            (METHOD, None) => &[("n,,", &[]), ("y,,", &[])],
            (METHOD, Some(_)) => &[("n,,", &[])],
            (BOUND, Some(hash)) => &[(BINDING, hash)],
            _ => return Err(Failed),
        };
        let header = headers
            .iter()
            .find(|(header, _)| message.starts_with(header));
        let (header, bound) = header.ok_or(Failed)?;
        let bare = &message[header.len()..];
        let mut parts = bare.split(',');
        let nonce = match (parts.next(), parts.next()) {
            (Some(name), Some(nonce)) if name.starts_with("n=") => nonce.strip_prefix("r="),
            _ => None,
        };
        let nonce = nonce.filter(|nonce| !nonce.is_empty()).ok_or(Failed)?;
        let mut own = [0; 18];
        SystemRandom::new().fill(&mut own).map_err(|_| Failed)?;
        let nonce = format!("{nonce}{}", STANDARD.encode(own));
        let (verifier, is_known) = self.find(user);
        let salt = STANDARD.encode(&verifier.salt);
        let answer = format!("r={nonce},s={salt},i={}", verifier.iterations);
        let exchange = Exchange {
            said: format!("{bare},{answer}"),
            header: STANDARD.encode([header.as_bytes(), bound].concat()),
            nonce,
            verifier,
            is_known,
        };
        Ok((answer, exchange))
    }
}

/// An exchange in which the server has answered once.
pub(super) struct Exchange {
    verifier: Verifier,
    is_known: bool,
    header: String,
    nonce: String,
    said: String,
}

/// An exchange that failed; nobody is told how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Failed;

impl Exchange {
    /// Looks at the client's proof; the server's own proof where it holds.
    pub(super) fn last(&self, message: &[u8]) -> Result<String, Failed> {
        let message = text(message)?;
        let (without, proof) = message.rsplit_once(",p=").ok_or(Failed)?;
        let expected = format!("c={},r={}", self.header, self.nonce);
        let proof = STANDARD.decode(proof).map_err(|_| Failed)?;
        let proof = <[u8; KEY]>::try_from(proof).map_err(|_| Failed)?;
        let said = format!("{},{without}", self.said);
        let signature = keyed(&self.verifier.stored, said.as_bytes());
        let mut client = proof;
        let pairs = client.iter_mut().zip(signature);
        pairs.for_each(|(byte, other)| *byte ^= other);
        let expected_key = hmac::Key::new(hmac::HMAC_SHA256, &self.verifier.stored);
        // Compared under a key, so that the time says nothing about the bytes.
        let tag = hmac::sign(&expected_key, &self.verifier.stored);
        let is_proof = hmac::verify(&expected_key, &hashed(&client), tag.as_ref()).is_ok();
        if without == expected && is_proof & self.is_known {
            let own = keyed(&self.verifier.server, said.as_bytes());
            return Ok(format!("v={}", STANDARD.encode(own)));
        }
        Err(Failed)
    }
}

fn text(message: &[u8]) -> Result<&str, Failed> {
    let short = (message.len() <= LONGEST)
        .then_some(message)
        .ok_or(Failed)?;
    std::str::from_utf8(short).map_err(|_| Failed)
}

fn keyed(key: &[u8], text: &[u8]) -> [u8; KEY] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text);
    let mut bytes = [0; KEY];
    bytes.copy_from_slice(tag.as_ref());
    bytes
}

fn hashed(bytes: &[u8]) -> [u8; KEY] {
    let hash = digest::digest(&digest::SHA256, bytes);
    let mut bytes = [0; KEY];
    bytes.copy_from_slice(hash.as_ref());
    bytes
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_verifier_is_read_as_it_is_written_and_takes_its_password_alone() {
        let verifier = Verifier::of("pencil").unwrap();
        let text = verifier.to_string();
        assert_eq!(Verifier::read(&text), Some(verifier.clone()));
        for wrong in [
            "",
            "SCRAM-SHA-256$",
            "md5abc",
            &text[..text.len() - 4],
            &text.replace("65536", "12"),
        ] {
            assert_eq!(Verifier::read(wrong), None, "{wrong}");
        }
        let users = Users::new(vec![(String::from("user"), verifier)], b"secret");
        let hash: Option<&[u8]> = Some(b"hash");
        for (password, header, binding, is_right) in [
            ("pencil", "n,,", None, true),
            ("pencil", "y,,", None, true),
            ("pencil", "n,,", hash, true),
            ("pencil", BINDING, hash, true),
            ("pencils", "n,,", None, false),
            ("pencils", BINDING, hash, false),
            // Somebody took the better method away.
            ("pencil", "y,,", hash, false),
            ("pencil", BINDING, None, false),
            ("pencil", "p=tls-unique,,", hash, false),
        ] {
            let found = proven(&users, "user", password, header, binding, b"hash");
            assert_eq!(found.is_ok(), is_right, "{password} {header} {binding:?}");
        }
        assert!(proven(&users, "nobody", "pencil", "n,,", None, b"").is_err());
        // Somebody stands between, with another certificate.
        assert!(proven(&users, "user", "pencil", BINDING, hash, b"other").is_err());
    }

    #[test]
    fn a_name_that_is_not_known_looks_like_one_that_is() {
        let verifier = Verifier::of("pencil").unwrap();
        let users = Users::new(vec![(String::from("user"), verifier)], b"secret");
        let shown = |users: &Users, name: &str| -> Vec<String> {
            let (answer, _) = users.first(name, METHOD, b"n,,n=,r=x", None).unwrap();
            answer.split(',').skip(1).map(str::to_owned).collect()
        };
        let (known, unknown) = (shown(&users, "user"), shown(&users, "nobody"));
        assert_eq!(unknown, shown(&users, "nobody"));
        assert_ne!(unknown[0], shown(&users, "somebody")[0]);
        assert_eq!(known[1], unknown[1]);
        assert_eq!(known[0].len(), unknown[0].len());
        // Who knows all verifiers and not the secret cannot tell.
        let others = Users::new(users.known.clone(), b"other");
        assert_ne!(shown(&others, "nobody"), unknown);
    }

    /// RFC 7677, section 3: the keys of the example follow from its password, salt and iterations.
    #[test]
    fn the_verifier_of_the_standards_example() {
        let text = "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";
        let verifier = Verifier::read(text).unwrap();
        let exchange = Exchange {
            said: String::from(
                "n=user,r=rOprNGfwEbeRWgbNEkqO,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
            ),
            header: STANDARD.encode("n,,"),
            nonce: String::from("rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"),
            verifier,
            is_known: true,
        };
        let last = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        let proof = exchange.last(last.as_bytes()).unwrap();
        assert_eq!(proof, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    }

    /// What a client does that sees this certificate's hash.
    fn proven(
        users: &Users,
        user: &str,
        password: &str,
        header: &str,
        binding: Option<&[u8]>,
        seen: &[u8],
    ) -> Result<String, Failed> {
        let first = format!("{header}n=,r=abc");
        let (method, seen) = match header.starts_with("p=") {
            true => (BOUND, seen),
            false => (METHOD, &[][..]),
        };
        let (answer, exchange) = users.first(user, method, first.as_bytes(), binding)?;
        let parts: Vec<&str> = answer.split(',').collect();
        let salt = STANDARD.decode(&parts[1][2..]).unwrap();
        let count = parts[2][2..].parse().unwrap();
        let mut salted = [0; KEY];
        pbkdf2::derive(
            pbkdf2::PBKDF2_HMAC_SHA256,
            count,
            &salt,
            password.as_bytes(),
            &mut salted,
        );
        let client = keyed(&salted, b"Client Key");
        let bound = STANDARD.encode([header.as_bytes(), seen].concat());
        let without = format!("c={bound},{}", parts[0]);
        let signature = keyed(
            &hashed(&client),
            format!("n=,r=abc,{answer},{without}").as_bytes(),
        );
        let proof: Vec<u8> = client.iter().zip(signature).map(|(a, b)| a ^ b).collect();
        exchange.last(format!("{without},p={}", STANDARD.encode(proof)).as_bytes())
    }
}
