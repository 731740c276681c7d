//! What hospitals do: treatments in groups and classes, what they cost, and whether they operate.

/// A treatment.
pub(super) struct Treatment {
    pub(super) class: &'static str,
    pub(super) group: &'static str,
    pub(super) label: &'static str,
    /// The price of the treatment without the stay.
    pub(super) price: u64,
}

/// The class of treatments that the old and frail have less often.
pub(super) const SURGERY: &str = "surgery";

const fn t(class: &'static str, group: &'static str, label: &'static str, price: u64) -> Treatment {
    Treatment {
        class,
        group,
        label,
        price,
    }
}

#[rustfmt::skip]
pub(super) const TREATMENTS: [Treatment; 50] = [
    t(SURGERY, "heart surgery", "bypass", 24_000),
    t(SURGERY, "heart surgery", "stent", 9_500),
    t(SURGERY, "heart surgery", "pacemaker", 11_000),
    t(SURGERY, "heart surgery", "valve replacement", 28_000),
    t(SURGERY, "vessel surgery", "vein stripping", 2_400),
    t(SURGERY, "vessel surgery", "clot removal", 12_500),
    t(SURGERY, "abdominal surgery", "appendix removal", 4_300),
    t(SURGERY, "abdominal surgery", "gallbladder removal", 5_200),
    t(SURGERY, "abdominal surgery", "hernia repair", 3_600),
    t(SURGERY, "abdominal surgery", "bowel resection", 14_500),
    t(SURGERY, "bone and joint surgery", "hip replacement", 12_800),
    t(SURGERY, "bone and joint surgery", "knee replacement", 12_200),
    t(SURGERY, "bone and joint surgery", "fracture fixation", 7_400),
    t(SURGERY, "bone and joint surgery", "arthroscopy", 3_100),
    t(SURGERY, "bone and joint surgery", "spinal surgery", 16_500),
    t(SURGERY, "head and neck surgery", "tonsil removal", 2_100),
    t(SURGERY, "head and neck surgery", "thyroid removal", 5_600),
    t(SURGERY, "head and neck surgery", "cataract surgery", 1_800),
    t(SURGERY, "pelvic surgery", "hysterectomy", 6_300),
    t(SURGERY, "pelvic surgery", "prostate resection", 6_100),
    t(SURGERY, "pelvic surgery", "stone removal", 3_900),
    t(SURGERY, "other surgery", "tumour removal", 10_400),
    t(SURGERY, "other surgery", "wound surgery", 2_200),
    t(SURGERY, "other surgery", "craniotomy", 26_000),
    t("medication", "anti-infectives", "antibiotics", 600),
    t("medication", "anti-infectives", "antivirals", 900),
    t("medication", "cancer drugs", "chemotherapy", 8_800),
    t("medication", "cancer drugs", "immunotherapy", 17_000),
    t("medication", "heart drugs", "blood thinners", 500),
    t("medication", "heart drugs", "pressure control", 350),
    t("medication", "heart drugs", "clot dissolving", 5_400),
    t("medication", "metabolic drugs", "insulin adjustment", 700),
    t("medication", "metabolic drugs", "hormone therapy", 650),
    t("medication", "lung and allergy drugs", "inhalation", 400),
    t("medication", "lung and allergy drugs", "steroids", 450),
    t("medication", "nerve and mind drugs", "pain control", 500),
    t("medication", "nerve and mind drugs", "psychiatric medication", 450),
    t("medication", "nerve and mind drugs", "seizure control", 550),
    t("medication", "fluids and blood", "fluids", 250),
    t("medication", "fluids and blood", "transfusion", 1_300),
    t("procedure", "scopes", "gastroscopy", 900),
    t("procedure", "scopes", "colonoscopy", 1_100),
    t("procedure", "machines", "ventilation", 9_800),
    t("procedure", "machines", "dialysis", 4_200),
    t("procedure", "machines", "radiotherapy", 9_000),
    t("procedure", "birth", "assisted delivery", 2_300),
    t("procedure", "birth", "caesarean", 4_900),
    t("care", "watching", "observation", 200),
    t("care", "therapy", "physiotherapy", 800),
    t("care", "therapy", "psychotherapy", 1_000),
];
