//! Chapters I to S: circulation to injuries, and symptoms without a cause.

use super::Ages::*;
use super::Season::*;
use super::Sexes::*;
use super::{Block, Chapter, d};

#[rustfmt::skip]
pub(super) const CHAPTERS: [Chapter; 10] = [
    Chapter { label: "I circulation", blocks: &[
        Block { label: "high pressure",
            treatments: &[("pressure control", 75), ("observation", 25)],
            diagnoses: &[
                d("I10 high blood pressure", 260, Oldest, MoreWomen, Winter, 4),
                d("I11 hypertensive heart disease", 64, Oldest, Both, Always, 7),
            ] },
        Block { label: "coronary disease",
            treatments: &[("stent", 50), ("bypass", 12), ("blood thinners", 20), ("observation", 18)],
            diagnoses: &[
                d("I20 angina", 240, Old, MoreMen, Always, 4),
                d("I21 heart attack", 230, Old, MoreMen, Winter, 7),
                d("I25 chronic coronary disease", 170, Old, MoreMen, Always, 4),
            ] },
        Block { label: "valves",
            treatments: &[("valve replacement", 55), ("pressure control", 30), ("observation", 15)],
            diagnoses: &[
                d("I34 mitral valve disease", 34, Old, Both, Always, 9),
                d("I35 aortic valve disease", 62, Oldest, Both, Always, 9),
            ] },
        Block { label: "rhythm",
            treatments: &[("blood thinners", 55), ("pacemaker", 25), ("observation", 20)],
            diagnoses: &[
                d("I44 heart block", 38, Oldest, MoreMen, Always, 6),
                d("I48 atrial fibrillation", 330, Old, Both, Always, 4),
                d("I49 other rhythm disorder", 44, Old, Both, Always, 5),
            ] },
        Block { label: "heart failure",
            treatments: &[("pressure control", 60), ("fluids", 10), ("ventilation", 8), ("pacemaker", 22)],
            diagnoses: &[
                d("I50 heart failure", 480, Oldest, Both, Winter, 10),
            ] },
        Block { label: "bleeding strokes",
            treatments: &[("craniotomy", 30), ("observation", 40), ("physiotherapy", 30)],
            diagnoses: &[
                d("I61 brain bleeding", 40, Oldest, Both, Always, 14),
            ] },
        Block { label: "blocked strokes",
            treatments: &[("clot dissolving", 35), ("clot removal", 15), ("blood thinners", 30), ("physiotherapy", 20)],
            diagnoses: &[
                d("I63 stroke", 255, Oldest, Both, Always, 11),
            ] },
        Block { label: "clots",
            treatments: &[("blood thinners", 80), ("clot removal", 20)],
            diagnoses: &[
                d("I26 lung embolism", 54, Old, Both, Always, 7),
                d("I80 vein clot", 40, Middle, Both, Always, 5),
            ] },
        Block { label: "arteries",
            treatments: &[("blood thinners", 40), ("stent", 40), ("clot removal", 20)],
            diagnoses: &[
                d("I70 hardened arteries", 155, Old, MoreMen, Always, 9),
            ] },
        Block { label: "veins",
            treatments: &[("vein stripping", 85), ("observation", 15)],
            diagnoses: &[
                d("I83 varicose veins", 68, Middle, MoreWomen, Winter, 2),
            ] },
    ] },
    Chapter { label: "J breathing", blocks: &[
        Block { label: "infections of the nose and throat",
            treatments: &[("antibiotics", 35), ("tonsil removal", 45), ("observation", 20)],
            diagnoses: &[
                d("J03 tonsillitis", 48, Child, Both, Winter, 3),
                d("J06 common cold with fever", 74, Child, Both, Winter, 3),
                d("J35 enlarged tonsils", 120, Child, Both, Always, 3),
                d("J36 throat abscess", 40, Young, Both, Always, 3),
            ] },
        Block { label: "influenza and pneumonia",
            treatments: &[("antibiotics", 60), ("antivirals", 20), ("ventilation", 12), ("fluids", 8)],
            diagnoses: &[
                d("J10 influenza", 105, Any, Both, Winter, 5),
                d("J15 bacterial pneumonia", 110, Oldest, MoreMen, Winter, 10),
                d("J18 unspecified pneumonia", 300, Oldest, Both, Winter, 9),
                d("J20 acute bronchitis", 145, Child, Both, Winter, 4),
                d("J21 infant bronchiolitis", 85, Newborn, Both, Winter, 4),
            ] },
        Block { label: "chronic lung disease",
            treatments: &[("inhalation", 55), ("steroids", 30), ("ventilation", 15)],
            diagnoses: &[
                d("J44 chronic obstructive lung disease", 250, Old, Both, Winter, 8),
                d("J45 asthma", 72, Child, Both, Spring, 4),
                d("J84 scarred lungs", 20, Old, MoreMen, Always, 8),
            ] },
    ] },
    Chapter { label: "K digestion", blocks: &[
        Block { label: "gullet and stomach",
            treatments: &[("gastroscopy", 55), ("observation", 30), ("pain control", 15)],
            diagnoses: &[
                d("K21 acid reflux", 58, Middle, Both, Always, 3),
                d("K22 narrowed gullet", 24, Old, Both, Always, 4),
                d("K25 stomach ulcer", 54, Old, Both, Always, 6),
                d("K29 stomach inflammation", 150, Adult, Both, Always, 3),
            ] },
        Block { label: "appendix",
            treatments: &[("appendix removal", 85), ("antibiotics", 15)],
            diagnoses: &[
                d("K35 appendicitis", 165, Young, Both, Always, 4),
            ] },
        Block { label: "hernias",
            treatments: &[("hernia repair", 92), ("observation", 8)],
            diagnoses: &[
                d("K40 groin hernia", 190, Middle, MoreMen, Always, 2),
                d("K43 abdominal wall hernia", 62, Middle, Both, Always, 5),
            ] },
        Block { label: "bowels",
            treatments: &[("colonoscopy", 40), ("bowel resection", 20), ("steroids", 15), ("fluids", 25)],
            diagnoses: &[
                d("K50 Crohn disease", 34, Young, Both, Always, 7),
                d("K51 ulcerative colitis", 26, Young, Both, Always, 7),
                d("K56 bowel obstruction", 130, Old, Both, Always, 7),
                d("K57 diverticulitis", 140, Old, Both, Always, 6),
                d("K59 constipation", 70, Any, Both, Always, 3),
            ] },
        Block { label: "gallbladder",
            treatments: &[("gallbladder removal", 75), ("pain control", 15), ("antibiotics", 10)],
            diagnoses: &[
                d("K80 gallstones", 270, Middle, MoreWomen, Always, 5),
            ] },
        Block { label: "liver and pancreas",
            treatments: &[("fluids", 40), ("pain control", 30), ("observation", 30)],
            diagnoses: &[
                d("K70 alcoholic liver disease", 60, Middle, MoreMen, Always, 10),
                d("K85 acute pancreatitis", 76, Middle, MoreMen, Always, 9),
            ] },
    ] },
    Chapter { label: "L skin", blocks: &[
        Block { label: "skin infections",
            treatments: &[("antibiotics", 60), ("wound surgery", 40)],
            diagnoses: &[
                d("L02 abscess", 92, Adult, MoreMen, Summer, 4),
                d("L03 cellulitis", 60, Old, Both, Summer, 6),
            ] },
        Block { label: "other skin disease",
            treatments: &[("steroids", 55), ("wound surgery", 30), ("observation", 15)],
            diagnoses: &[
                d("L20 eczema", 24, Child, Both, Winter, 6),
                d("L40 psoriasis", 32, Middle, Both, Winter, 8),
                d("L89 pressure sore", 30, Oldest, Both, Always, 17),
            ] },
    ] },
    Chapter { label: "M joints and back", blocks: &[
        Block { label: "hips",
            treatments: &[("hip replacement", 80), ("physiotherapy", 20)],
            diagnoses: &[
                d("M16 worn hip", 215, Old, Both, Always, 9),
            ] },
        Block { label: "knees",
            treatments: &[("knee replacement", 80), ("physiotherapy", 20)],
            diagnoses: &[
                d("M17 worn knee", 230, Old, MoreWomen, Always, 9),
            ] },
        Block { label: "knees and shoulders",
            treatments: &[("arthroscopy", 80), ("physiotherapy", 20)],
            diagnoses: &[
                d("M23 torn meniscus", 110, Adult, MoreMen, Always, 2),
                d("M75 shoulder damage", 120, Middle, Both, Always, 3),
            ] },
        Block { label: "back",
            treatments: &[("pain control", 45), ("physiotherapy", 30), ("spinal surgery", 25)],
            diagnoses: &[
                d("M48 narrowed spine", 98, Old, Both, Always, 9),
                d("M51 slipped disc", 190, Middle, Both, Always, 7),
                d("M54 back pain", 225, Middle, MoreWomen, Always, 6),
            ] },
        Block { label: "bones and inflammation",
            treatments: &[("steroids", 35), ("pain control", 35), ("physiotherapy", 30)],
            diagnoses: &[
                d("M06 rheumatoid arthritis", 48, Middle, MoreWomen, Always, 8),
                d("M10 gout", 26, Old, MoreMen, Always, 6),
                d("M80 brittle bones", 42, Oldest, MoreWomen, Always, 10),
            ] },
    ] },
    Chapter { label: "N kidneys and sexual organs", blocks: &[
        Block { label: "urinary infections",
            treatments: &[("antibiotics", 85), ("fluids", 15)],
            diagnoses: &[
                d("N10 kidney infection", 84, Young, MoreWomen, Always, 5),
                d("N39 urinary infection", 165, Oldest, MoreWomen, Always, 6),
            ] },
        Block { label: "kidney failure",
            treatments: &[("dialysis", 70), ("fluids", 20), ("pressure control", 10)],
            diagnoses: &[
                d("N17 acute kidney failure", 72, Oldest, Both, Summer, 10),
                d("N18 chronic kidney failure", 86, Old, Both, Always, 8),
            ] },
        Block { label: "stones",
            treatments: &[("stone removal", 75), ("pain control", 25)],
            diagnoses: &[
                d("N13 blocked kidney", 92, Middle, MoreMen, Summer, 4),
                d("N20 kidney stone", 150, Middle, MoreMen, Summer, 3),
            ] },
        Block { label: "male organs",
            treatments: &[("prostate resection", 70), ("observation", 30)],
            diagnoses: &[
                d("N40 enlarged prostate", 120, Old, Men, Always, 6),
                d("N43 water hernia", 16, Child, Men, Always, 2),
            ] },
        Block { label: "female organs",
            treatments: &[("hysterectomy", 50), ("observation", 35), ("hormone therapy", 15)],
            diagnoses: &[
                d("N80 endometriosis", 40, Fertile, Women, Always, 3),
                d("N81 prolapse", 82, Old, Women, Always, 5),
                d("N83 ovarian cyst", 60, Fertile, Women, Always, 3),
            ] },
    ] },
    Chapter { label: "O pregnancy", blocks: &[
        Block { label: "early pregnancy",
            treatments: &[("observation", 70), ("hormone therapy", 20), ("fluids", 10)],
            diagnoses: &[
                d("O02 failed pregnancy", 50, Fertile, Women, Always, 1),
                d("O03 miscarriage", 48, Fertile, Women, Always, 2),
                d("O21 severe morning sickness", 42, Fertile, Women, Always, 4),
            ] },
        Block { label: "births",
            treatments: &[("assisted delivery", 60), ("caesarean", 32), ("observation", 8)],
            diagnoses: &[
                d("O14 pre-eclampsia", 36, Fertile, Women, Always, 6),
                d("O42 early waters", 180, Fertile, Women, Always, 4),
                d("O68 distressed child", 165, Fertile, Women, Always, 4),
                d("O70 torn perineum", 210, Fertile, Women, Always, 3),
                d("O80 birth without trouble", 320, Fertile, Women, Always, 3),
                d("O82 birth by caesarean", 110, Fertile, Women, Always, 4),
            ] },
    ] },
    Chapter { label: "P newborns", blocks: &[
        Block { label: "born early or small",
            treatments: &[("ventilation", 35), ("observation", 65)],
            diagnoses: &[
                d("P07 born early", 150, Newborn, Both, Always, 22),
                d("P22 troubled breathing at birth", 75, Newborn, Both, Always, 9),
            ] },
        Block { label: "other troubles of newborns",
            treatments: &[("observation", 85), ("antibiotics", 15)],
            diagnoses: &[
                d("P59 newborn jaundice", 120, Newborn, Both, Always, 4),
                d("P70 low sugar at birth", 40, Newborn, Both, Always, 4),
                d("Z38 healthy newborn", 900, Newborn, Both, Always, 3),
            ] },
    ] },
    Chapter { label: "S injuries", blocks: &[
        Block { label: "head injuries",
            treatments: &[("observation", 87), ("craniotomy", 3), ("wound surgery", 10)],
            diagnoses: &[
                d("S00 bruised head", 76, Child, Both, Always, 2),
                d("S02 broken skull or face", 58, Young, MoreMen, Summer, 4),
                d("S06 concussion", 290, Child, MoreMen, Summer, 2),
            ] },
        Block { label: "broken arms and trunk",
            treatments: &[("fracture fixation", 65), ("pain control", 25), ("physiotherapy", 10)],
            diagnoses: &[
                d("S22 broken rib or back", 96, Oldest, Both, Winter, 8),
                d("S32 broken pelvis", 92, Oldest, MoreWomen, Winter, 11),
                d("S42 broken upper arm", 120, Oldest, MoreWomen, Winter, 6),
                d("S52 broken forearm", 190, Any, MoreWomen, Winter, 4),
            ] },
        Block { label: "broken hips",
            treatments: &[("fracture fixation", 50), ("hip replacement", 45), ("physiotherapy", 5)],
            diagnoses: &[
                d("S72 broken hip", 255, Oldest, MoreWomen, Winter, 15),
            ] },
        Block { label: "legs below the hip",
            treatments: &[("fracture fixation", 60), ("arthroscopy", 25), ("physiotherapy", 15)],
            diagnoses: &[
                d("S82 broken lower leg", 185, Adult, Both, Winter, 8),
                d("S83 torn knee ligament", 70, Young, MoreMen, Winter, 3),
            ] },
        Block { label: "burns",
            treatments: &[("wound surgery", 75), ("fluids", 25)],
            diagnoses: &[
                d("T20 burn", 16, Child, Both, Always, 9),
            ] },
        Block { label: "poisons and allergies",
            treatments: &[("observation", 55), ("steroids", 25), ("fluids", 20)],
            diagnoses: &[
                d("T39 poisoning by pills", 26, Young, MoreWomen, Always, 3),
                d("T63 insect sting", 20, Any, Both, Summer, 2),
                d("T78 severe allergy", 48, Any, Both, Spring, 2),
            ] },
        Block { label: "implants",
            treatments: &[("hip replacement", 40), ("knee replacement", 35), ("antibiotics", 25)],
            diagnoses: &[
                d("T84 loosened implant", 110, Old, Both, Always, 12),
            ] },
    ] },
    Chapter { label: "R symptoms", blocks: &[
        Block { label: "pains and faints",
            treatments: &[("observation", 60), ("gastroscopy", 15), ("pain control", 25)],
            diagnoses: &[
                d("R07 chest pain", 130, Middle, Both, Always, 2),
                d("R10 belly pain", 200, Any, MoreWomen, Always, 3),
                d("R55 faint", 175, Any, Both, Summer, 4),
            ] },
        Block { label: "other signs",
            treatments: &[("observation", 80), ("fluids", 20)],
            diagnoses: &[
                d("R06 breathlessness", 64, Oldest, Both, Always, 4),
                d("R42 dizziness", 84, Old, MoreWomen, Always, 3),
                d("R50 fever", 34, Child, Both, Winter, 3),
            ] },
    ] },
];
