//! Schooling, marriage and salary: their values, and how they go with age and sex.

/// First ages of the bands that people are told apart by.
pub(super) const BANDS: [u32; 6] = [17, 20, 25, 35, 50, 65];

/// A level of schooling.
pub(super) struct Level {
    pub(super) label: &'static str,
    /// From the nearest node of the taxonomy up.
    pub(super) above: &'static [&'static str],
    /// How many people in each band of ages have the level.
    pub(super) people: [u64; 6],
    /// Little, middle, high and highest education are 0 to 3.
    pub(super) rank: usize,
    /// Points towards the salary.
    pub(super) pay: usize,
}

const fn l(
    label: &'static str,
    above: &'static [&'static str],
    people: [u64; 6],
    rank: usize,
    pay: usize,
) -> Level {
    Level {
        label,
        above,
        people,
        rank,
        pay,
    }
}

const BASIC: &[&str] = &["basic"];
const SECONDARY: &[&str] = &["secondary"];
const UNDERGRADUATE: &[&str] = &["undergraduate", "tertiary"];
const POSTGRADUATE: &[&str] = &["postgraduate", "tertiary"];

#[rustfmt::skip]
pub(super) const LEVELS: [Level; 13] = [
    l("no school", BASIC, [2, 2, 3, 4, 7, 18], 0, 0),
    l("some primary", BASIC, [2, 2, 4, 6, 12, 34], 0, 0),
    l("primary", BASIC, [8, 6, 9, 14, 30, 90], 0, 0),
    l("lower secondary", BASIC, [190, 36, 36, 48, 76, 130], 0, 1),
    l("some upper secondary", SECONDARY, [480, 60, 46, 50, 64, 80], 1, 1),
    l("upper secondary", SECONDARY, [260, 300, 210, 230, 280, 270], 1, 3),
    l("apprenticeship", SECONDARY, [20, 80, 96, 110, 130, 96], 1, 4),
    l("some college", UNDERGRADUATE, [40, 360, 110, 90, 80, 56], 2, 4),
    l("college diploma", UNDERGRADUATE, [2, 110, 190, 190, 150, 80], 2, 5),
    l("bachelor", UNDERGRADUATE, [0, 120, 260, 200, 130, 84], 2, 8),
    l("master", POSTGRADUATE, [0, 8, 100, 86, 54, 34], 3, 10),
    l("licence to practise", POSTGRADUATE, [0, 2, 22, 20, 16, 12], 3, 12),
    l("doctorate", POSTGRADUATE, [0, 0, 10, 16, 13, 9], 3, 12),
];

/// Values of marital status, with the nodes above from the nearest up.
pub(super) const MARITAL: [(&str, &[&str]); 7] = [
    ("married", &["with partner"]),
    ("registered partners", &["with partner"]),
    ("living together", &["with partner"]),
    ("single", &["never with partner", "without partner"]),
    ("separated", &["once with partner", "without partner"]),
    ("divorced", &["once with partner", "without partner"]),
    ("widowed", &["once with partner", "without partner"]),
];

/// Weights of marital status for each band of ages: women, then men.
pub(super) const MARRIED: [[[u64; 7]; 2]; 6] = [
    [[6, 0, 30, 960, 2, 1, 1], [2, 0, 14, 982, 1, 1, 0]],
    [[90, 4, 180, 710, 10, 5, 1], [46, 3, 140, 800, 7, 4, 0]],
    [
        [440, 14, 210, 280, 28, 26, 2],
        [380, 14, 210, 360, 20, 15, 1],
    ],
    [
        [590, 16, 120, 130, 46, 90, 8],
        [590, 18, 130, 150, 40, 70, 2],
    ],
    [
        [600, 12, 76, 70, 40, 150, 52],
        [660, 14, 80, 80, 40, 112, 14],
    ],
    [
        [430, 6, 26, 50, 18, 120, 350],
        [690, 8, 36, 46, 20, 96, 104],
    ],
];

/// Salary classes, with the node above and the points at which each is likeliest.
pub(super) const SALARIES: [(&str, &str, u64); 5] = [
    ("under 20K", "up to 50K", 9),
    ("20K to 35K", "up to 50K", 16),
    ("35K to 50K", "up to 50K", 22),
    ("50K to 80K", "above 50K", 29),
    ("above 80K", "above 50K", 38),
];

/// Points towards the salary for each band of ages.
pub(super) const AGE_PAY: [usize; 6] = [0, 2, 6, 9, 9, 4];

/// The most points that all together can give.
pub(super) const MOST_POINTS: u64 = 50;

/// The weight of a salary class for a person with so many points.
pub(super) fn salary_weight(points: u64, likeliest: u64) -> u64 {
    let distance = points.abs_diff(likeliest);
    1 + 100_000 / (16 + distance * distance * distance)
}

/// How many people there are of an age: a base that narrows after 60.
pub(super) fn age_weight(age: u64) -> u64 {
    match age {
        ..20 => 120,
        20..35 => 150 + 2 * (age - 20),
        35..60 => 180,
        60..75 => 180 - 8 * (age - 60),
        _ => 60 - (5 * (age - 75)).min(58),
    }
}
