//! `[network]`: the paths of what all sites of a study send to all.

use hedgerow_data::Study;
use hedgerow_data::document::{DocumentError, Section};
use hedgerow_smc::settings::Shape;
use hedgerow_smc::{Security, Settings, Site};

/// What a study says of the paths between its sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NetworkSettings {
    /// The shape; where this is not set, it follows from the number of sites.
    pub shape: Option<Shape>,
    /// The hub of a star, the root of a tree, by its place in the study; the first site where this is not
    /// set.
    pub hub: Option<u16>,
}

impl NetworkSettings {
    /// Reads `[network]`.
    pub(crate) fn read(
        section: &Section<'_>,
        study: &Study,
        security: Security,
    ) -> Result<Self, DocumentError> {
        let shape = section.word("shape", &Shape::NAMES)?;
        let hub = section.string("hub")?;
        section.finish()?;
        if security == Security::Published {
            let message = "[network] is for security = \"hardened\": the papers' protocols go around a ring\nhint: leave it out";
            return Err(section.wrong_section(message));
        }
        let Some(hub) = hub else {
            return Ok(Self { shape, hub: None });
        };
        if !matches!(shape, Some(Shape::Star | Shape::Tree)) {
            let message = "`network.hub` is for shape = \"star\" and shape = \"tree\": in a mesh no site passes anything on\nhint: leave it out, or say the shape";
            return Err(section.wrong("hub", message));
        }
        let place = study.sites.iter().position(|site| site.name == hub);
        // A study of more sites than a number holds cannot be run.
        let place = place.and_then(|place| u16::try_from(place).ok());
        let place = place.ok_or_else(|| {
            let message = format!(
                "`network.hub` is `{hub}`, which is no site of the study\nhint: write the name of a [[site]]"
            );
            section.wrong("hub", message)
        })?;
        Ok(Self {
            shape,
            hub: Some(place),
        })
    }

    /// The shape of a run of so many sites.
    pub fn shape_of(&self, sites: usize) -> Shape {
        self.shape.unwrap_or_else(|| Shape::of(sites))
    }

    /// These settings of the parties of a run of so many sites, with its paths. A simulation of fewer sites
    /// than the study names may lack the hub.
    pub(crate) fn lay(&self, settings: Settings, sites: usize) -> Settings {
        let hub = self.hub.filter(|hub| usize::from(*hub) < sites);
        Settings {
            shape: self.shape_of(sites),
            hub: Site::new(hub.unwrap_or(0)),
            ..settings
        }
    }
}
