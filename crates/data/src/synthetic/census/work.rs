//! Occupations, forms of work and what they pay.

/// An occupation.
pub(super) struct Occupation {
    pub(super) label: &'static str,
    pub(super) group: &'static str,
    pub(super) class: &'static str,
    /// How many people of little, middle, high and highest education have the occupation.
    pub(super) people: [u64; 4],
    /// Of a hundred, how many are women.
    pub(super) women: u64,
    /// Points towards the salary.
    pub(super) pay: usize,
}

/// A form of work.
pub(super) struct Form {
    pub(super) label: &'static str,
    pub(super) sector: &'static str,
    /// How many people of little, middle, high and highest education have the form of work.
    pub(super) people: [u64; 4],
    /// How common the form of work is under 25, from 25 to 64, and over 64: against the usual 4.
    pub(super) ages: [u64; 3],
    /// Points towards the salary.
    pub(super) pay: usize,
}

const fn o(
    label: &'static str,
    group: &'static str,
    class: &'static str,
    people: [u64; 4],
    women: u64,
    pay: usize,
) -> Occupation {
    Occupation {
        label,
        group,
        class,
        people,
        women,
        pay,
    }
}

const fn f(
    label: &'static str,
    sector: &'static str,
    people: [u64; 4],
    ages: [u64; 3],
    pay: usize,
) -> Form {
    Form {
        label,
        sector,
        people,
        ages,
        pay,
    }
}

#[rustfmt::skip]
pub(super) const OCCUPATIONS: [Occupation; 30] = [
    o("director", "managers", "office", [2, 8, 30, 60], 32, 12),
    o("shop manager", "managers", "office", [10, 30, 34, 12], 44, 7),
    o("engineer", "technology", "office", [0, 4, 60, 110], 18, 10),
    o("programmer", "technology", "office", [0, 12, 80, 90], 24, 10),
    o("technician", "technology", "office", [4, 50, 44, 10], 22, 6),
    o("physician", "health", "office", [0, 0, 4, 150], 48, 13),
    o("nurse", "health", "office", [2, 24, 96, 30], 90, 6),
    o("care assistant", "health", "office", [40, 60, 12, 1], 86, 2),
    o("teacher", "learning", "office", [0, 4, 110, 120], 74, 6),
    o("researcher", "learning", "office", [0, 0, 10, 100], 46, 8),
    o("lawyer", "law and money", "office", [0, 1, 8, 90], 46, 12),
    o("accountant", "law and money", "office", [1, 18, 70, 40], 58, 8),
    o("clerk", "desk", "office", [16, 110, 70, 10], 80, 3),
    o("receptionist", "desk", "office", [14, 56, 22, 2], 86, 2),
    o("sales assistant", "selling", "service", [80, 130, 40, 4], 64, 1),
    o("sales agent", "selling", "service", [10, 46, 52, 16], 40, 6),
    o("cook", "hospitality", "service", [60, 46, 6, 0], 44, 2),
    o("waiter", "hospitality", "service", [56, 52, 14, 1], 68, 0),
    o("cleaner", "household", "service", [110, 40, 4, 0], 74, 0),
    o("nanny", "household", "service", [26, 22, 6, 0], 95, 0),
    o("hairdresser", "household", "service", [14, 34, 3, 0], 88, 1),
    o("police officer", "protection", "service", [1, 30, 22, 4], 24, 7),
    o("guard", "protection", "service", [22, 28, 6, 0], 24, 2),
    o("builder", "building", "hands", [110, 80, 8, 0], 4, 4),
    o("electrician", "building", "hands", [14, 76, 8, 0], 4, 6),
    o("mechanic", "machines", "hands", [40, 84, 8, 0], 4, 4),
    o("machine operator", "machines", "hands", [96, 70, 6, 0], 28, 3),
    o("driver", "transport", "hands", [90, 80, 12, 1], 8, 3),
    o("packer", "transport", "hands", [90, 50, 6, 0], 36, 0),
    o("farmer", "land", "hands", [46, 30, 8, 2], 24, 2),
];

#[rustfmt::skip]
pub(super) const FORMS: [Form; 9] = [
    f("company", "private", [760, 720, 590, 400], [5, 4, 3], 4),
    f("association", "private", [20, 40, 80, 80], [4, 4, 4], 2),
    f("own account", "self-employed", [110, 80, 60, 80], [1, 4, 8], 3),
    f("own firm", "self-employed", [20, 36, 46, 70], [0, 4, 6], 9),
    f("state", "public", [8, 24, 50, 60], [2, 4, 2], 6),
    f("province", "public", [14, 30, 70, 120], [3, 4, 2], 5),
    f("town", "public", [40, 60, 100, 110], [3, 4, 2], 4),
    f("family", "unpaid", [16, 6, 2, 1], [8, 3, 5], 0),
    f("volunteer", "unpaid", [2, 2, 3, 4], [6, 2, 12], 0),
];
