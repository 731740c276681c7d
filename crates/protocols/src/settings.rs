//! How the protocols of a study run: the security level and the roles that `[study]` names, `[network]`,
//! and `[algorithm]`, but for the algorithm's name, which is the study's.
//!
//! Every key is known, every error names file and line and suggests the nearest word.

use hedgerow_data::document::{DocumentError, Section};
use hedgerow_data::study::{Algorithm, Partition};
use hedgerow_data::{Recode, Study};
use hedgerow_privacy::Requirement;
use hedgerow_smc::{Difference, RoleChoice, Security, Settings};

use crate::clustering::settings::{CLUSTERING_KEYS, ClusteringSettings, CountsChoice};
use crate::horizontal::clustering::undecided;
use crate::horizontal::mondrian::settings::{CUT_KEYS, TopDown};
use crate::horizontal::requirement::{COLLUDER_KEYS, Colluders};
use crate::network::NetworkSettings;
use crate::published::PublishedSettings;
use crate::vertical;
use crate::vertical::d2pt::settings::{D2ptSettings, KEYS};

/// Parts into which a search by comparisons cuts a domain: small domains are searched in one step.
pub const FAN_OUT: usize = 128;
/// The most values that such a step asks about where it is then the last.
pub const AT_ONCE: usize = 1 << 16;

/// Every protocol that the published level does not run as printed, beside the primitives
/// ([`hedgerow_smc::settings::DIFFERENCES`]).
pub const DIFFERENCES: [Difference; 6] = [
    Difference {
        of: "Mondrian (JX08, JX09)",
        here: "all classes of a depth at once",
        reason: "the classes are the same",
    },
    Difference {
        of: "joint table (JX08 4.4)",
        here: "values counted by class, rows united where values are many",
        reason: "sums move no row; questions unite rows as printed",
    },
    Difference {
        of: "m-privacy (MPRIV)",
        here: "thresholds on hidden sums",
        reason: "no party is trusted with counts",
    },
    Difference {
        of: "entropy, recursive site diversity (JX09 3)",
        here: "the hardened comparison",
        reason: "the printed one sends a hash for every number below the bound",
    },
    Difference {
        of: "end of clustering (TG12 Algorithms 3, 4)",
        here: "also after ten iterations without a lower loss",
        reason: "the printed rule may never be met",
    },
    Difference {
        of: "DPP2GA (D2PT)",
        here: "held to the whole requirement",
        reason: "the algorithm knows k alone",
    },
];

/// How the protocols of a study run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RunSettings {
    /// The security level: which form of each protocol runs.
    pub security: Security,
    /// Who has roles in comparisons that leave sites out.
    pub roles: RoleChoice,
    /// The paths between sites.
    pub network: NetworkSettings,
    /// How the primitives of JX08 run at the published level.
    pub published: PublishedSettings,
    /// How a class is written where an attribute does not name a recoding of its own.
    pub recode: Recode,
    /// How top-down algorithms cut and write.
    pub top_down: TopDown,
    /// How it is asked whether classes withstand colluders.
    pub colluders: Colluders,
    /// How clusters are found.
    pub clustering: ClusteringSettings,
    /// How groups of the same people are found and written.
    pub d2pt: D2ptSettings,
}

impl RunSettings {
    /// The settings that a study declares.
    pub fn of_study(study: &Study) -> Result<Self, DocumentError> {
        let root = study.document().root();
        let mut settings = Self {
            recode: study.recode,
            published: PublishedSettings::of(study.algorithm),
            ..Self::default()
        };
        if let Some(head) = root.section("study")? {
            let security = head.word("security", &Security::NAMES)?;
            settings.security = security.unwrap_or_default();
            settings.roles = roles(&head, study)?;
        }
        if let Some(section) = root.section("network")? {
            settings.network = NetworkSettings::read(&section, study, settings.security)?;
        }
        if let Some(section) = root.section("algorithm")? {
            settings.read(&section, study)?;
        }
        settings.colluders = settings
            .colluders
            .with_roles(settings.security, settings.roles);
        Ok(settings)
    }

    /// Reads `[algorithm]`.
    fn read(&mut self, section: &Section<'_>, study: &Study) -> Result<(), DocumentError> {
        // The study's, and read.
        section.has("name");
        self.published = PublishedSettings::read(section, self.security, study.algorithm)?;
        if study.algorithm == Algorithm::D2pt {
            refuse_fragments(section, study)?;
            self.d2pt = D2ptSettings::read(section)?;
            return section.finish();
        }
        refuse_d2pt(section, study.partition)?;
        let is_cut = study.algorithm == Algorithm::Mondrian;
        if is_cut && study.partition == Partition::Vertical {
            // The study's too.
            section.has("recode");
            section.has("fragments");
            vertical::mondrian::settings::refuse(section)?;
            return section.finish();
        }
        refuse_fragments(section, study)?;
        // The study's too.
        section.has("recode");
        self.clustering = ClusteringSettings::read(section)?;
        if study.partition == Partition::Horizontal {
            self.top_down = TopDown::read(section)?;
            self.colluders = Colluders::read(section, self.security)?;
            self.refuse_hidden(section, study.algorithm)?;
            refuse_other_algorithm(section, study.algorithm)?;
            if section.has_misplaced("noise") {
                let message = "`algorithm.noise` is for vertical studies: only there are changes of the loss summed\nhint: leave it out; blur = true hides how many records a site has";
                return Err(section.wrong("noise", message));
            }
        } else {
            refuse_horizontal(section)?;
        }
        section.finish()
    }

    /// Who asks that sensitive counts stay hidden does not get cuts that open them.
    fn refuse_hidden(
        &self,
        section: &Section<'_>,
        algorithm: Algorithm,
    ) -> Result<(), DocumentError> {
        if self.clustering.counts == CountsChoice::Hidden && algorithm != Algorithm::Clustering {
            let message = "`algorithm.counts` is \"hidden\", which is for name = \"clustering\" only: cuts show the sensitive counts of their parts\nhint: leave it out, or write name = \"clustering\"";
            return Err(section.wrong("counts", message));
        }
        Ok(())
    }

    /// Sees that the settings of a study fit what the study requires among so many sites, where that is
    /// known: hidden counts decide what is demanded, and keys that speak of colluders have some to speak of.
    pub fn see_fit(
        &self,
        study: &Study,
        requirement: &Requirement,
        sites: Option<u64>,
    ) -> Result<(), DocumentError> {
        let Some(section) = study.document().root().section("algorithm")? else {
            return Ok(());
        };
        if self.clustering.counts == CountsChoice::Hidden
            && let Some(why) = undecided(requirement, sites)
        {
            let message = format!(
                "`algorithm.counts` is \"hidden\", which cannot be held {why}\nhint: take counts = \"opened\", or change what is named"
            );
            return Err(section.wrong("counts", message));
        }
        // A study that says m = 0 has thought of coalitions.
        let idle = COLLUDER_KEYS.iter().find(|key| section.has(key));
        match idle {
            Some(key) if requirement.m.is_none() => {
                let message = format!(
                    "`algorithm.{key}` says how coalitions of sites are asked about, and the study does not say m\nhint: leave it out, or require m = 1 or more"
                );
                Err(section.wrong(key, message))
            }
            _ => Ok(()),
        }
    }

    /// The settings that the parties of a run of so many sites agree on.
    pub fn of_parties(&self, sites: usize) -> Settings {
        match self.security {
            Security::Hardened => {
                let settings = Settings {
                    fan_out: FAN_OUT,
                    at_once: AT_ONCE,
                    roles: self.roles,
                    ..Settings::hardened()
                };
                self.network.lay(settings, sites)
            }
            Security::Published => self.published.of_parties(),
        }
    }

    /// Whether clusters are refined beyond the published end.
    pub fn is_refined(&self) -> bool {
        let opens_counts = self.clustering.counts == CountsChoice::Opened;
        self.security == Security::Hardened && self.clustering.finish && opens_counts
    }
}

/// The keys of `[algorithm]` that other horizontal algorithms read and this one refuses.
pub const fn keys_of_others(algorithm: Algorithm) -> &'static [&'static str] {
    match algorithm {
        Algorithm::Clustering => &CUT_KEYS,
        _ => &CLUSTERING_KEYS,
    }
}

/// Keys that the other horizontal algorithms read mean nothing to this one.
fn refuse_other_algorithm(
    section: &Section<'_>,
    algorithm: Algorithm,
) -> Result<(), DocumentError> {
    let of = match algorithm {
        Algorithm::Clustering => "algorithms that cut",
        _ => "name = \"clustering\"",
    };
    let keys = keys_of_others(algorithm);
    match keys.iter().find(|key| section.has_misplaced(key)) {
        Some(key) => {
            let message = format!(
                "`algorithm.{key}` is for {of} only, and would change nothing with name = \"{}\"\nhint: leave it out",
                algorithm.name()
            );
            Err(section.wrong(key, message))
        }
        None => Ok(()),
    }
}

/// Reads `study.roles`, and checks that the sites of the study can have such roles.
fn roles(head: &Section<'_>, study: &Study) -> Result<RoleChoice, DocumentError> {
    let roles = head.word("roles", &RoleChoice::NAMES)?.unwrap_or_default();
    let is_spread = roles == RoleChoice::Spread;
    if is_spread && study.partition == Partition::Vertical {
        let message = "`study.roles` has no meaning where every site holds everybody: no question leaves sites out";
        return Err(head.wrong("roles", message));
    }
    if is_spread && (1..4).contains(&study.sites.len()) {
        let message = format!(
            "`study.roles` is \"spread\" among {} sites, expected four or more: among fewer, every site has a role\nhint: leave it out",
            study.sites.len()
        );
        return Err(head.wrong("roles", message));
    }
    Ok(roles)
}

/// Keys of clustering that mean nothing where all sites hold the same people.
fn refuse_horizontal(section: &Section<'_>) -> Result<(), DocumentError> {
    let keys = [
        (
            "blur",
            "how many people a site has is known where all have the same",
        ),
        (
            "counts",
            "sensitive counts stay at the site that has the attribute where all have the same people",
        ),
    ];
    for (key, why) in keys {
        if section.has_misplaced(key) {
            let message =
                format!("`algorithm.{key}` is for horizontal studies: {why}\nhint: leave it out");
            return Err(section.wrong(key, message));
        }
    }
    Ok(())
}

/// Only cuts of the same people are written either way.
fn refuse_fragments(section: &Section<'_>, study: &Study) -> Result<(), DocumentError> {
    if !section.has_misplaced("fragments") {
        return Ok(());
    }
    let message = match study.partition {
        Partition::Horizontal => {
            "`algorithm.fragments` is for vertical studies with name = \"mondrian\"\nhint: leave it out"
        }
        Partition::Vertical => {
            "`algorithm.fragments` is for name = \"mondrian\" only: `clustering` writes one table, `d2pt` fragments\nhint: leave it out, or write name = \"mondrian\""
        }
    };
    Err(section.wrong("fragments", message))
}

/// The keys of D2Pt mean nothing to others.
fn refuse_d2pt(section: &Section<'_>, partition: Partition) -> Result<(), DocumentError> {
    for key in KEYS {
        if section.has_misplaced(key) {
            let hint = match partition {
                Partition::Horizontal => "which is for vertical studies; leave it out",
                Partition::Vertical => "leave it out, or write name = \"d2pt\"",
            };
            let message = format!("`algorithm.{key}` is for name = \"d2pt\" only\nhint: {hint}");
            return Err(section.wrong(key, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
