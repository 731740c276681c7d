//! A group of clusters built anew from its records, in one of two ways. Either clusters grow from a record
//! by the records that widen them least, until they satisfy the requirement, and take every record that
//! costs nothing more. Or a narrower cluster is opened for all records of the group that cost less there,
//! and clusters that become too small give their other records away. Then
//! records move, or change places, while that saves (`improve`).

use hedgerow_smc::Generator;

use super::built::{Built, loss};
use super::improve::improve;
use super::pool::{Held, Place, Pool};
use super::quick::Quick;
use crate::clustering::numbers::Row;

/// The most records of a group that is rebuilt: the work grows with their square.
const MOST_RECORDS: usize = 4000;
/// How clusters of a group grow, one way after the other; the best counts. So many openings are tried too.
const WAYS: [First; 2] = [First::Any, First::Farthest];
/// Steps by which an opened cluster is narrower at most.
const MOST_STEPS: usize = 3;
/// Clusters that lose more than others by this share are not improved.
const NEARLY: u64 = 50;

/// How a group is built anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Grown,
    Opened,
}

/// From which record a cluster grows.
#[derive(Clone, Copy)]
enum First {
    Any,
    /// The record that the cluster before would cost most.
    Farthest,
}

/// The records of a group in other clusters that lose less, or more by less than a random part of the
/// threshold; `None` where such clusters are not found.
pub(super) fn anew(
    quick: &Quick<'_>,
    (kind, group): (Kind, &[&Built]),
    threshold: u64,
    generator: &mut Generator,
) -> Option<Vec<Built>> {
    let before: u64 = group.iter().map(|cluster| cluster.loss()).sum();
    let records: usize = group.iter().map(|cluster| cluster.rows.len()).sum();
    if before == 0 || records > MOST_RECORDS || group.len() < 2 {
        return None;
    }
    let least = before + generator.below(threshold + 1);
    match kind {
        Kind::Grown => grown(quick, group, least, generator),
        Kind::Opened => opened(quick, group, least, generator),
    }
}

/// The best of some clusters that grow from the records of a group, if they lose less than a bound.
fn grown(
    quick: &Quick<'_>,
    group: &[&Built],
    mut least: u64,
    generator: &mut Generator,
) -> Option<Vec<Built>> {
    let rows = group.iter().flat_map(|cluster| &cluster.rows).copied();
    let pool = Pool::new(quick, rows.collect());
    let mut left: Vec<Place> = (0..pool.len() as Place).collect();
    let mut best = None;
    for first in WAYS {
        generator.shuffle(&mut left);
        let Some(mut held) = grow(&pool, left.clone(), first) else {
            continue;
        };
        improve(&pool, &mut held);
        let loss = held.iter().map(Held::loss).sum();
        if loss < least {
            least = loss;
            best = Some(held);
        }
    }
    let best = best?.into_iter();
    Some(best.map(|held| pool.built(held)).collect())
}

/// The best of some openings of a narrower cluster in a group, if clusters then lose less than a bound.
fn opened(
    quick: &Quick<'_>,
    group: &[&Built],
    mut least: u64,
    generator: &mut Generator,
) -> Option<Vec<Built>> {
    let mut best = None;
    for _ in WAYS {
        let Some(mut built) = open(quick, group, generator) else {
            continue;
        };
        // What is far from good enough does not become so by moves.
        if loss(&built) <= least + least / NEARLY {
            let rows = built.iter().flat_map(|cluster| &cluster.rows).copied();
            let pool = Pool::new(quick, rows.collect());
            let mut held = pool.hold_all(&built);
            improve(&pool, &mut held);
            built = held.into_iter().map(|held| pool.built(held)).collect();
        }
        let loss = loss(&built);
        if loss < least {
            least = loss;
            best = Some(built);
        }
    }
    best
}

/// Opens a cluster that is narrower than the first of the group in up to three steps, for all records that
/// cost less there.
fn open(quick: &Quick<'_>, group: &[&Built], generator: &mut Generator) -> Option<Vec<Built>> {
    let narrow = narrower(quick, group[0], generator)?;
    let cost = quick.cost(&narrow);
    let mut built: Vec<Built> = Vec::with_capacity(group.len() + 1);
    let (mut opened, mut loose) = (Vec::new(), Vec::new());
    for cluster in group {
        let costs_more = cluster.cost > cost;
        let is_inside = |row: &Row| costs_more && quick.joined_cost(&narrow, *row) <= cost;
        let (inside, outside): (Vec<Row>, Vec<Row>) =
            cluster.rows.iter().copied().partition(is_inside);
        if inside.is_empty() {
            built.push((*cluster).clone());
            continue;
        }
        opened.extend(inside);
        if outside.len() < quick.k() {
            loose.extend(outside);
            continue;
        }
        let left = Built::of(quick, outside);
        if left.is_enough(quick) {
            built.push(left);
        } else {
            loose.extend(left.rows);
        }
    }
    if opened.len() < quick.k() {
        return None;
    }
    built.push(Built::of(quick, opened));
    give(quick, &mut built, loose)?;
    let mut all = built.iter();
    all.all(|cluster| cluster.is_enough(quick)).then_some(built)
}

/// A closure within a cluster's closure that covers one of its records.
fn narrower(quick: &Quick<'_>, cluster: &Built, generator: &mut Generator) -> Option<Vec<u64>> {
    let mut below = |bound: usize| generator.below(bound.max(1) as u64) as usize;
    let row = cluster.rows[below(cluster.rows.len())];
    let shapes = quick.shapes();
    let mut closure = cluster.closure.clone();
    for _ in 0..=below(MOST_STEPS) {
        let attributes = 0..shapes.attributes();
        let wide: Vec<usize> = attributes
            .filter(|attribute| shapes.part_cost(*attribute, shapes.part(*attribute, &closure)) > 0)
            .collect();
        let attribute = *wide.get(below(wide.len()))?;
        let code = quick.work.record(row)[attribute];
        let mut parts = shapes.narrower_parts(attribute, &closure);
        parts.retain(|part| shapes.shape(attribute).covers(part, code));
        let part = parts.get(below(parts.len()))?;
        shapes.put_part(attribute, part, &mut closure);
    }
    Some(closure)
}

/// Gives each of some records to the cluster that grows least.
fn give(quick: &Quick<'_>, built: &mut [Built], rows: Vec<Row>) -> Option<()> {
    for row in rows {
        let growths = built.iter().map(|cluster| cluster.growth(quick, row));
        let (place, _) = growths.enumerate().min_by_key(|(_, growth)| *growth)?;
        built[place].add(quick, row);
    }
    Some(())
}

/// Clusters that satisfy the requirement, or `None` where the last records do not fit anywhere.
fn grow(pool: &Pool<'_>, mut left: Vec<Place>, first: First) -> Option<Vec<Held>> {
    let k = pool.quick.k();
    let mut grown: Vec<Held> = Vec::new();
    while left.len() >= 2 * k || (grown.is_empty() && !left.is_empty()) {
        let from = match (first, grown.last()) {
            (First::Farthest, Some(before)) => {
                let indices = 0..left.len();
                indices.max_by_key(|index| before.joined_cost(left[*index]))?
            }
            _ => left.len() - 1,
        };
        let mut cluster = pool.hold(vec![left.swap_remove(from)]);
        while !cluster.is_enough(pool) {
            let index = nearest(pool, &cluster, &left)?;
            cluster.add(pool, left.swap_remove(index));
        }
        // Records that cost nothing more here, as long as enough are left for another cluster.
        let mut index = 0;
        while index < left.len() && left.len() > k {
            if cluster.joined_cost(left[index]) == cluster.cost {
                cluster.add(pool, left.swap_remove(index));
            } else {
                index += 1;
            }
        }
        if !cluster.is_enough(pool) {
            return None;
        }
        grown.push(cluster);
    }
    if left.len() >= k {
        let last = pool.hold(left);
        if last.is_enough(pool) {
            grown.push(last);
            return Some(grown);
        }
        left = last.members;
    }
    for place in left {
        let growths = grown.iter().map(|cluster| cluster.growth(place));
        let (to, _) = growths.enumerate().min_by_key(|(_, growth)| *growth)?;
        grown[to].add(pool, place);
    }
    let mut all = grown.iter();
    all.all(|cluster| cluster.is_enough(pool)).then_some(grown)
}

/// The index of the record that widens a cluster least. In a cluster that is large enough but not diverse
/// enough, records count whose sensitive values are rarer in the cluster than among the records that are
/// left, if there are such records.
fn nearest(pool: &Pool<'_>, cluster: &Held, left: &[Place]) -> Option<usize> {
    if cluster.members.len() >= pool.quick.k() {
        let values = |place: Place| pool.quick.values(pool.row(place));
        let mut others = vec![0u64; cluster.counts().len()];
        for place in left {
            let values = values(*place).iter();
            values.for_each(|value| others[*value as usize] += 1);
        }
        let (own, all) = (cluster.members.len() as u64, left.len() as u64);
        let is_rare = |index: &usize| {
            let mut values = values(left[*index]).iter();
            values.any(|value| {
                let value = *value as usize;
                cluster.counts()[value] * all < others[value] * own
            })
        };
        let rare = (0..left.len()).filter(is_rare);
        let rare = rare.min_by_key(|index| cluster.joined_cost(left[*index]));
        if rare.is_some() {
            return rare;
        }
    }
    let mut least = u64::MAX;
    let mut nearest = None;
    for (index, place) in left.iter().enumerate() {
        let cost = cluster.joined_cost(*place);
        if cost < least {
            least = cost;
            nearest = Some(index);
            if cost <= cluster.cost {
                break;
            }
        }
    }
    nearest
}
