//! Chapters A to H: infections, cancers, blood, metabolism, mind, nerves, eyes and ears.

use super::Ages::*;
use super::Season::*;
use super::Sexes::*;
use super::{Block, Chapter, d};

#[rustfmt::skip]
pub(super) const CHAPTERS: [Chapter; 7] = [
    Chapter { label: "A infections", blocks: &[
        Block { label: "gut infections",
            treatments: &[("fluids", 60), ("antibiotics", 25), ("observation", 15)],
            diagnoses: &[
                d("A02 salmonella", 40, Any, Both, Summer, 4),
                d("A04 bacterial gut infection", 70, Old, Both, Always, 6),
                d("A08 viral gut infection", 240, Child, Both, Winter, 3),
                d("A09 unspecified gut infection", 180, Any, Both, Summer, 3),
            ] },
        Block { label: "blood infections",
            treatments: &[("antibiotics", 75), ("ventilation", 10), ("fluids", 15)],
            diagnoses: &[
                d("A40 streptococcal sepsis", 30, Old, Both, Always, 11),
                d("A41 other sepsis", 190, Oldest, Both, Always, 12),
                d("A46 erysipelas", 80, Old, Both, Summer, 7),
            ] },
        Block { label: "viral infections",
            treatments: &[("antivirals", 60), ("observation", 30), ("fluids", 10)],
            diagnoses: &[
                d("A69 tick-borne infection", 25, Adult, Both, Summer, 5),
                d("B02 shingles", 50, Old, MoreWomen, Always, 6),
                d("B18 chronic hepatitis", 22, Middle, MoreMen, Always, 4),
                d("B27 glandular fever", 35, Young, Both, Spring, 4),
                d("B34 other viral infection", 110, Child, Both, Winter, 3),
            ] },
    ] },
    Chapter { label: "C cancers", blocks: &[
        Block { label: "cancers of digestion",
            treatments: &[("chemotherapy", 45), ("tumour removal", 25), ("bowel resection", 20), ("immunotherapy", 10)],
            diagnoses: &[
                d("C16 stomach cancer", 28, Old, MoreMen, Always, 10),
                d("C18 colon cancer", 85, Old, Both, Always, 11),
                d("C20 rectal cancer", 42, Old, MoreMen, Always, 10),
                d("C25 pancreatic cancer", 36, Old, Both, Always, 10),
            ] },
        Block { label: "cancers of breathing",
            treatments: &[("chemotherapy", 45), ("immunotherapy", 25), ("radiotherapy", 20), ("tumour removal", 10)],
            diagnoses: &[
                d("C32 larynx cancer", 12, Old, MoreMen, Always, 8),
                d("C34 lung cancer", 120, Old, MoreMen, Always, 8),
            ] },
        Block { label: "cancers of skin and breast",
            treatments: &[("tumour removal", 50), ("radiotherapy", 25), ("chemotherapy", 15), ("hormone therapy", 10)],
            diagnoses: &[
                d("C43 melanoma", 26, Middle, Both, Always, 3),
                d("C44 other skin cancer", 95, Oldest, Both, Always, 3),
                d("C50 breast cancer", 130, Middle, Women, Always, 5),
            ] },
        Block { label: "cancers of pelvis",
            treatments: &[("tumour removal", 35), ("radiotherapy", 25), ("hormone therapy", 20), ("chemotherapy", 20)],
            diagnoses: &[
                d("C53 cervical cancer", 14, Middle, Women, Always, 6),
                d("C56 ovarian cancer", 18, Middle, Women, Always, 9),
                d("C61 prostate cancer", 88, Old, Men, Always, 6),
                d("C67 bladder cancer", 78, Old, MoreMen, Always, 5),
            ] },
        Block { label: "cancers of blood",
            treatments: &[("chemotherapy", 60), ("immunotherapy", 20), ("transfusion", 20)],
            diagnoses: &[
                d("C81 Hodgkin lymphoma", 8, Young, Both, Always, 8),
                d("C83 large cell lymphoma", 32, Old, Both, Always, 8),
                d("C91 lymphoid leukaemia", 20, Child, Both, Always, 10),
                d("C92 myeloid leukaemia", 19, Old, Both, Always, 14),
            ] },
        Block { label: "growths of the womb",
            treatments: &[("hysterectomy", 60), ("hormone therapy", 15), ("observation", 25)],
            diagnoses: &[
                d("D25 fibroid", 72, Middle, Women, Always, 4),
            ] },
        Block { label: "growths of bowel and skin",
            treatments: &[("tumour removal", 60), ("colonoscopy", 25), ("observation", 15)],
            diagnoses: &[
                d("D12 bowel polyp", 60, Middle, Both, Always, 2),
                d("D17 fat tumour", 16, Adult, Both, Always, 2),
            ] },
    ] },
    Chapter { label: "D blood", blocks: &[
        Block { label: "anaemias",
            treatments: &[("transfusion", 70), ("gastroscopy", 15), ("observation", 15)],
            diagnoses: &[
                d("D50 iron deficiency", 65, Oldest, MoreWomen, Always, 5),
                d("D57 sickle cell disease", 7, Young, Both, Winter, 5),
                d("D64 other anaemia", 48, Oldest, Both, Always, 6),
            ] },
        Block { label: "clotting and defence",
            treatments: &[("transfusion", 30), ("steroids", 40), ("observation", 30)],
            diagnoses: &[
                d("D68 clotting disorder", 20, Adult, Both, Always, 5),
                d("D69 low platelets", 18, Any, Both, Always, 5),
                d("D86 sarcoidosis", 10, Middle, Both, Always, 6),
            ] },
    ] },
    Chapter { label: "E metabolism", blocks: &[
        Block { label: "diabetes",
            treatments: &[("insulin adjustment", 75), ("fluids", 15), ("wound surgery", 10)],
            diagnoses: &[
                d("E10 type 1 diabetes", 70, Young, Both, Always, 6),
                d("E11 type 2 diabetes", 210, Old, Both, Always, 8),
            ] },
        Block { label: "thyroid",
            treatments: &[("hormone therapy", 40), ("thyroid removal", 50), ("observation", 10)],
            diagnoses: &[
                d("E04 goitre", 62, Middle, MoreWomen, Always, 4),
                d("E05 overactive thyroid", 30, Middle, MoreWomen, Always, 4),
            ] },
        Block { label: "weight",
            treatments: &[("physiotherapy", 35), ("psychotherapy", 15), ("observation", 50)],
            diagnoses: &[
                d("E66 obesity", 75, Middle, MoreWomen, Always, 5),
            ] },
        Block { label: "water and salts",
            treatments: &[("fluids", 80), ("observation", 20)],
            diagnoses: &[
                d("E86 dehydration", 160, Oldest, Both, Summer, 5),
                d("E87 salt imbalance", 70, Oldest, MoreWomen, Summer, 6),
            ] },
    ] },
    Chapter { label: "F mind", blocks: &[
        Block { label: "addiction",
            treatments: &[("psychotherapy", 40), ("psychiatric medication", 35), ("observation", 25)],
            diagnoses: &[
                d("F10 alcohol", 330, Middle, MoreMen, Always, 7),
                d("F11 opioids", 40, Young, MoreMen, Always, 9),
                d("F19 several substances", 46, Young, MoreMen, Always, 8),
            ] },
        Block { label: "psychoses",
            treatments: &[("psychiatric medication", 75), ("psychotherapy", 25)],
            diagnoses: &[
                d("F20 schizophrenia", 95, Adult, MoreMen, Always, 28),
                d("F25 schizoaffective disorder", 44, Adult, Both, Always, 28),
            ] },
        Block { label: "moods",
            treatments: &[("psychotherapy", 55), ("psychiatric medication", 45)],
            diagnoses: &[
                d("F31 bipolar disorder", 50, Adult, Both, Spring, 26),
                d("F32 depression", 150, Adult, MoreWomen, Winter, 24),
                d("F33 recurrent depression", 140, Middle, MoreWomen, Winter, 29),
            ] },
        Block { label: "fears and habits",
            treatments: &[("psychotherapy", 80), ("psychiatric medication", 20)],
            diagnoses: &[
                d("F41 anxiety", 46, Adult, MoreWomen, Always, 14),
                d("F43 stress reaction", 92, Young, MoreWomen, Always, 12),
                d("F50 eating disorder", 21, Young, MoreWomen, Always, 38),
            ] },
        Block { label: "ageing of the mind",
            treatments: &[("psychiatric medication", 50), ("observation", 40), ("physiotherapy", 10)],
            diagnoses: &[
                d("F03 dementia", 58, Oldest, Both, Always, 17),
                d("F05 delirium", 52, Oldest, Both, Always, 12),
            ] },
    ] },
    Chapter { label: "G nerves", blocks: &[
        Block { label: "fits",
            treatments: &[("seizure control", 80), ("observation", 20)],
            diagnoses: &[
                d("G40 epilepsy", 145, Any, Both, Always, 5),
            ] },
        Block { label: "headaches",
            treatments: &[("pain control", 75), ("observation", 25)],
            diagnoses: &[
                d("G43 migraine", 56, Young, MoreWomen, Always, 4),
            ] },
        Block { label: "inflammation of brain and spine",
            treatments: &[("steroids", 60), ("immunotherapy", 25), ("physiotherapy", 15)],
            diagnoses: &[
                d("G03 meningitis", 12, Child, Both, Summer, 9),
                d("G35 multiple sclerosis", 40, Young, MoreWomen, Always, 6),
            ] },
        Block { label: "strokes in passing and sleep",
            treatments: &[("blood thinners", 50), ("observation", 50)],
            diagnoses: &[
                d("G45 passing stroke", 125, Old, Both, Always, 5),
                d("G47 sleep apnoea", 135, Middle, MoreMen, Always, 2),
            ] },
        Block { label: "movement and single nerves",
            treatments: &[("physiotherapy", 45), ("steroids", 30), ("pain control", 25)],
            diagnoses: &[
                d("G20 Parkinson disease", 60, Oldest, Both, Always, 14),
                d("G51 facial palsy", 24, Adult, Both, Always, 4),
                d("G56 carpal tunnel", 34, Middle, MoreWomen, Always, 1),
            ] },
    ] },
    Chapter { label: "H eyes and ears", blocks: &[
        Block { label: "lenses",
            treatments: &[("cataract surgery", 92), ("observation", 8)],
            diagnoses: &[
                d("H25 cataract", 150, Oldest, MoreWomen, Always, 1),
                d("H26 clouded lens after surgery", 40, Oldest, MoreWomen, Always, 1),
            ] },
        Block { label: "other eye disease",
            treatments: &[("steroids", 35), ("pressure control", 25), ("observation", 40)],
            diagnoses: &[
                d("H33 retinal detachment", 35, Middle, MoreMen, Always, 4),
                d("H40 glaucoma", 42, Old, Both, Always, 3),
            ] },
        Block { label: "ears",
            treatments: &[("antibiotics", 35), ("steroids", 35), ("observation", 30)],
            diagnoses: &[
                d("H66 middle ear infection", 52, Child, Both, Winter, 2),
                d("H81 dizziness from the ear", 95, Old, MoreWomen, Always, 4),
                d("H91 hearing loss", 38, Middle, Both, Always, 4),
            ] },
    ] },
];
