//! What the sites agree on before top-down cuts, as a study sets it, and what such a run discloses.

use hedgerow_data::study::Algorithm;
use hedgerow_data::{Domain, Recode, Role, Study, Taxonomy};
use hedgerow_privacy::{Model, Requirement, SiteSupport};
use hedgerow_smc::{Security, What, order};

use super::settings::{Choose, Covers, Cuts, Medians, TopDown, Widths};
use super::{
    ALL_MEDIANS, AT_MEDIANS, BETWEEN_SITES, CANDIDATES, DATA_RANGES, ENTROPIES, EVENER, MEDIANS,
    MEDIANS_IN_NODES, PARTS, RANGES, RANGES_IN_NODES, RECORDS, REFUSED,
};
use crate::error::Error;
use crate::horizontal::assembly::Room;
use crate::horizontal::requirement::Demands;
use crate::horizontal::writing::writings;
use crate::settings::RunSettings;

/// How a quasi-identifier is cut.
#[derive(Debug, Clone)]
pub enum Cutting<'a> {
    /// In two at the median of declared or leaf order.
    Median,
    /// Into the children of a node.
    Children(&'a Taxonomy),
}

/// One quasi-identifier of a run.
#[derive(Debug, Clone)]
pub struct Quasi<'a> {
    /// Number of values.
    pub size: u32,
    /// How the quasi-identifier is cut.
    pub cutting: Cutting<'a>,
    /// Whether the release shows less of the quasi-identifier than the cuts do: nodes, where cuts go
    /// inside them, or `*`, where a range would have a missing value inside.
    pub is_coarsened: bool,
}

impl<'a> Quasi<'a> {
    /// The taxonomy along which the quasi-identifier is cut.
    pub(super) fn tree(&self) -> Option<&'a Taxonomy> {
        match self.cutting {
            Cutting::Median => None,
            Cutting::Children(tree) => Some(tree),
        }
    }
}

/// The rule that chooses among a class's possible cuts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    /// The widest attribute whose cut is allowed, one after the other (JX08 section 4.2). Where cuts
    /// between sites are allowed too, they come after all others.
    Width,
    /// Of all allowed cuts the best by JX09 equation 3: width, with this weight, and entropy of sites in
    /// the parts, with the rest of the weight; each relative to the best.
    Diversity {
        /// alpha
        alpha: f64,
    },
    /// Of all allowed cuts the cut whose weaker part is the fittest (MPRIV section IV); of equals the
    /// widest.
    Fitness {
        /// The weight of diversity against size.
        weight: f64,
    },
}

/// What all sites agree on before a run.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// The quasi-identifiers.
    pub quasi: Vec<Quasi<'a>>,
    /// What every class must satisfy. The cuts decide whether classes may be written alike.
    pub demands: Demands<'a>,
    /// The rule that chooses the cut.
    pub choice: Choice,
    /// Whether the site is an attribute to cut too (A_0 of MPRIV).
    pub cuts_sites: bool,
    /// Where records at the median go.
    pub medians: Medians,
    /// The ranges from which widths are computed.
    pub widths: Widths,
    /// Whether a class of exactly 2k records stays whole (JX08 Algorithm 1, lines 8 and 14: above 2k);
    /// otherwise every cut is tried whose parts may hold (JX09: 2k and more).
    pub keeps_twice_k: bool,
    /// For each quasi-identifier, whether it may betray a site, where site diversity is demanded of the
    /// records that are written alike in such attributes and the cuts decide how classes are written.
    pub betraying: Option<Vec<bool>>,
    /// The columns that the release has as they are; none where sites keep a virtual database.
    pub room: Room,
    /// Whether the study counts rows.
    pub is_counted: bool,
}

/// The most classes into which relaxed medians may cut counted rows: some hundred bytes each at every site.
const MOST_PARTS: u64 = 1 << 22;

impl Plan<'_> {
    /// Refuses, by the records of all sites that are known, what can end in no release: the sooner it is known
    /// the less is disclosed.
    pub fn refuse(&self, records: u64, sites: usize) -> Result<(), Error> {
        self.refuse_classes(1, records, sites)?;
        let classes = records / self.demands.requirement.k().max(1);
        if self.is_counted && self.medians == Medians::Relaxed && classes > MOST_PARTS {
            let most = MOST_PARTS;
            return Err(Error::TooManyParts {
                records,
                classes,
                most,
            });
        }
        Ok(())
    }

    /// The same by classes that will not become fewer. Where classes may be written alike, their number says
    /// nothing of those that are written.
    pub(super) fn refuse_classes(
        &self,
        classes: u64,
        records: u64,
        sites: usize,
    ) -> Result<(), Error> {
        let may_be_alike =
            self.is_coarsened() || self.cuts_sites || self.medians == Medians::Relaxed;
        let classes = if may_be_alike { 1 } else { classes };
        self.room.refuse((classes, records), sites)
    }

    /// Whether the release shows less of some quasi-identifier than cuts do.
    pub(super) fn is_coarsened(&self) -> bool {
        self.quasi.iter().any(|quasi| quasi.is_coarsened)
    }
}

impl<'a> Plan<'a> {
    /// The plan of a study.
    pub fn of(study: &'a Study, requirement: &'a Requirement, settings: &RunSettings) -> Self {
        let top_down = &settings.top_down;
        let quasi = writings(&study.schema, settings.recode).into_iter();
        let quasi = quasi.map(|writing| {
            let tree = writing.domain.taxonomy();
            let cutting = match tree {
                Some(tree) if top_down.cuts == Cuts::Children => Cutting::Children(tree),
                _ => Cutting::Median,
            };
            let is_inside_nodes = writing.recode == Recode::Node
                && tree.is_some()
                && matches!(cutting, Cutting::Median);
            Quasi {
                size: writing.domain.size(),
                is_coarsened: is_inside_nodes || writing.widens_ranges(),
                cutting,
            }
        });
        let cuts_sites = study.algorithm == Algorithm::ProviderAware;
        let is_printed = settings.security == Security::Published;
        // JX08 and JX09 distribute records at the median; JX08 asks for the ranges of the data in every
        // step, JX09 keeps those that the cuts leave. MPRIV says neither.
        let demands_sites = requirement.models.iter().any(Model::demands_sites);
        let medians = match is_printed && !cuts_sites {
            true => Medians::Relaxed,
            false => Medians::Strict,
        };
        let widths = match is_printed && !cuts_sites && !demands_sites {
            true => Widths::Data,
            false => Widths::Box,
        };
        let medians = top_down.medians.unwrap_or(medians);
        let widths = top_down.widths.unwrap_or(widths);
        Self {
            quasi: quasi.collect(),
            demands: Demands::of(study, requirement, settings.security, settings.colluders),
            choice: Choice::of(cuts_sites, requirement, settings),
            cuts_sites,
            medians,
            widths,
            // The ranges of the data are JX08's, and at the published level so is its stop rule.
            keeps_twice_k: is_printed && widths == Widths::Data,
            betraying: betraying(study, requirement, top_down.covers, widths),
            room: room(study),
            is_counted: study.is_counted(),
        }
    }

    /// Everything that [`partition`](super::partition) may disclose to a site at a level, but for what
    /// extremes and unions [show on their way](Security::discloses).
    pub fn discloses(&self, security: Security) -> Vec<What> {
        let is_coarsened = self.is_coarsened();
        let mut all = vec![RECORDS];
        all.extend(self.demands.discloses_of_all());
        all.push(if is_coarsened {
            RANGES_IN_NODES
        } else {
            RANGES
        });
        match self.choice {
            Choice::Width if is_coarsened => all.extend([MEDIANS_IN_NODES, PARTS]),
            Choice::Width => all.extend([MEDIANS, PARTS]),
            Choice::Diversity { .. } => all.extend([
                ALL_MEDIANS,
                CANDIDATES,
                match security {
                    Security::Published => ENTROPIES,
                    Security::Hardened => EVENER,
                },
            ]),
            Choice::Fitness { .. } => all.extend([ALL_MEDIANS, CANDIDATES]),
        }
        if self.cuts_sites {
            all.push(BETWEEN_SITES);
        }
        if self.medians == Medians::Relaxed {
            all.push(AT_MEDIANS);
        }
        if self.widths == Widths::Data {
            all.push(DATA_RANGES);
        }
        all.extend(self.demands.discloses_of_sites());
        all.push(REFUSED);
        if security == Security::Published {
            all.push(order::CANDIDATES);
        }
        all
    }
}

/// What the release of a study has of each record as it is.
fn room(study: &Study) -> Room {
    if study.is_virtual() {
        return Room::default();
    }
    let attributes = study.schema.attributes().iter().enumerate();
    let verbatim = attributes.filter(|(_, attribute)| {
        matches!(attribute.role, Role::Sensitive | Role::Other) && attribute.domain != Domain::Text
    });
    let positions: Vec<usize> = verbatim.map(|(position, _)| position).collect();
    Room::of(&study.schema, &positions)
}

/// For each quasi-identifier, whether it may betray a site. `None` where site diversity is asked of every
/// class: the study names no attributes, or demands support by taxonomy; the values that occur are
/// written, so that classes which the cuts leave alike may not be; or colluders recognize their own
/// records by all attributes.
fn betraying(
    study: &Study,
    requirement: &Requirement,
    covers: Covers,
    widths: Widths,
) -> Option<Vec<bool>> {
    let is_by_cuts = covers == Covers::Box && widths == Widths::Box;
    if !is_by_cuts || requirement.m.is_some_and(|m| m > 0) {
        return None;
    }
    let demanding = requirement
        .models
        .iter()
        .filter(|model| model.demands_sites());
    let mut named = demanding.filter_map(|model| match model {
        Model::SiteDiversity {
            support: SiteSupport::Class,
            attributes,
            ..
        }
        | Model::SiteSpread { attributes, .. } => attributes.as_ref(),
        _ => None,
    });
    let named = named.next()?;
    let quasi = study.schema.with_role(Role::Quasi).into_iter();
    let names = quasi.map(|position| &study.schema.attributes()[position].name);
    Some(names.map(|name| named.contains(name)).collect())
}

impl Choice {
    /// JX08, JX09 or MPRIV: which of a class's cuts is made, where the study does not say so. Between
    /// sites, width loses less than the fitness of the paper, which is kept in its published form.
    fn of(cuts_sites: bool, requirement: &Requirement, settings: &RunSettings) -> Self {
        let TopDown {
            alpha,
            choose,
            weight,
            ..
        } = settings.top_down;
        let fitness = Self::Fitness { weight };
        match choose {
            Some(Choose::Width) => return Self::Width,
            Some(Choose::Fitness) => return fitness,
            None => {}
        }
        if cuts_sites && settings.security == Security::Published {
            fitness
        } else if alpha < 1.0 && requirement.models.iter().any(Model::demands_sites) {
            Self::Diversity { alpha }
        } else {
            Self::Width
        }
    }
}
