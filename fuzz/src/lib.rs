//! What the fuzz targets do: a run in which a peer lies, and the decoders by themselves.
//!
//! A lie is a frame with a proper header and checksum whose payload the fuzzer chooses, by xor
//! over the honest payload or in its place. So every decoder is reached where it is used, after
//! all that comes before it. Nothing may panic; an error must name a site.

use hedgerow_smc::commutative::{PohligHellmanKey, RistrettoKey};
use hedgerow_smc::memory::{Fault, Faults, Simulation};
use hedgerow_smc::wire::{self, Header};
use hedgerow_smc::{Error, Generator, Items, Party, Rank, Seed, Settings, Site, Tree, What};

const FUZZ: What = What::new("fuzzing", "nothing real");

/// The primitives in which a peer can lie, by the names of their targets.
pub const PRIMITIVES: [&str; 12] = [
    "join", "sum", "bits", "at_least", "greatest", "tell", "lca", "order", "union", "rows",
    "align", "overlaps",
];

/// A whole frame, header and checksum included.
pub fn frame(data: &[u8]) {
    if let Ok((header, payload)) = Header::open(data.to_vec()) {
        assert_eq!(header.length as usize, payload.len());
        assert_eq!(header.frame(&payload), data);
    }
}

/// Packed numbers, bits, blocks and points.
pub fn vectors(data: &[u8]) {
    let Some((&[count, bits], bytes)) = data.split_first_chunk() else {
        return;
    };
    let (count, bits) = (usize::from(count), u32::from(bits) % 64 + 1);
    let _ = wire::unpack_below(bytes, count, bits);
    let _ = wire::unpack_bits(bytes, count).map(Iterator::count);
    let _ = wire::unpack_blocks(bytes, count).map(Iterator::count);
    let _ = wire::points(bytes, bytes.len() / 32);
}

/// Ciphertexts of both commutative ciphers.
pub fn ciphertexts(data: &[u8]) {
    let mut generator = Generator::new(&Seed::new([1; 32]));
    let count = data.len() / RistrettoKey::BYTES;
    let _ = RistrettoKey::new(&mut generator).encrypt_again(data, count);
    let count = data.len() / PohligHellmanKey::BYTES;
    let _ = PohligHellmanKey::new(&mut generator).encrypt_again(data, count);
}

/// A run of one primitive in which frames are lied about as `data` says: level and number of
/// sites in the first byte, then sender, receiver, number and kind of one frame, then the lie.
pub fn lies(primitive: &str, data: &[u8]) {
    let Some((&[shape, from, to, number, kind], lie)) = data.split_first_chunk() else {
        return;
    };
    let sites = 2 + usize::from(shape % 3);
    let settings = if shape & 0x80 == 0 {
        Settings::hardened()
    } else {
        Settings::published()
    };
    let site = |byte: u8| Site::new(u16::from(byte) % sites as u16);
    let fault = match kind % 3 {
        0 => Fault::Replace(lie.to_vec()),
        _ if lie.is_empty() => Fault::Drop,
        _ => Fault::Lie(lie.to_vec()),
    };
    let faults = Faults::default().strike(site(from), site(to), u32::from(number % 32), fault);
    let outcome = Simulation::new(sites, 1)
        .settings(Settings {
            decoys: 2,
            fan_out: 4,
            ..settings
        })
        .faults(faults)
        .run(|party| ask(primitive, party));
    for error in outcome.results.into_iter().filter_map(Result::err) {
        assert!(error.to_string().contains("site "), "{error}");
    }
}

async fn ask(primitive: &str, mut party: Party) -> Result<(), Error> {
    let me = party.me().index() as u64;
    match primitive {
        "sum" => {
            party.sum(FUZZ, &mut [me, 7]).await?;
            party.sum_to(FUZZ, Site::new(1), &mut [me]).await
        }
        "bits" => {
            party.all(FUZZ, &mut [true; 9]).await?;
            party.any(FUZZ, &mut [me == 1; 3]).await
        }
        "at_least" => {
            let mut answers = [false; 3];
            party
                .at_least(FUZZ, 1_000, &[me, 9, 300], &[1, 30, 900], &mut answers)
                .await
        }
        "lca" => {
            let tree = [Tree::new(vec![0, 0, 0, 1, 1, 2])?];
            party
                .lca(
                    FUZZ,
                    &tree,
                    |_| 0,
                    &mut [Some(3), Some(me as u32 + 1), None],
                )
                .await
        }
        "order" => {
            party
                .ranges(FUZZ, |_| 5..=40, &mut [Some((me + 5, me + 9)), None])
                .await?;
            let questions = [
                Rank {
                    rank: 2,
                    domain: 5..=40,
                },
                Rank {
                    rank: 9,
                    domain: 0..=0,
                },
            ];
            party
                .kth(
                    FUZZ,
                    20,
                    &questions,
                    |_, value| value.min(5),
                    &mut [None; 2],
                )
                .await
        }
        "union" => {
            let decoy = |generator: &mut Generator| vec![generator.below(256) as u8; 2];
            let shape = Items {
                width: 2,
                capacity: 2,
                domain: 256.0,
                decoy: &decoy,
            };
            party
                .union(FUZZ, &shape, &mut vec![vec![me as u8; 2]])
                .await
        }
        "rows" => {
            let widths = vec![2; party.sites()];
            let own = vec![vec![me as u8; 2], vec![7; 2], vec![me as u8 + 1; 2]];
            let rows = party.rows(FUZZ, &widths, &[1, 2], own).await?;
            assert!(rows.iter().all(|row| row.len() == 2 * party.sites()));
            Ok(())
        }
        "greatest" => {
            let contend: Vec<Site> = Site::all(party.sites()).collect();
            for bound in [9, 1 << 20] {
                let mut sites = [9; 3];
                party
                    .greatest(FUZZ, bound, &contend, &[me, 3, 5], &mut sites)
                    .await?;
                assert!(sites.iter().all(|site| (*site as usize) < party.sites()));
            }
            Ok(())
        }
        "tell" => {
            party.tell(FUZZ, Site::new(1), &mut [me, 3]).await?;
            let bits = vec![vec![3, 1, 64]; party.sites()];
            let told = party.tell_each(FUZZ, &bits, &[me, 1, me]).await?;
            assert!(told.chunks(3).all(|told| told[0] < 8 && told[1] < 2));
            Ok(())
        }
        "overlaps" => {
            let mut class_of = [0, 1, 0, 1];
            class_of.rotate_left(me as usize % 2);
            let found = party.overlaps(FUZZ, 4, &class_of).await?;
            let records: u64 = found.cells.iter().map(|(_, records)| records).sum();
            assert_eq!(records, 4);
            Ok(())
        }
        "align" => {
            let own = me.to_le_bytes();
            party
                .align(FUZZ, 100, &[b"both", &own], &mut Vec::new())
                .await
        }
        _ => Ok(()),
    }
}
