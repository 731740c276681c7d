//! Countries of birth: parts of the world, how many came from each, and who they are.

/// People of one origin.
pub(super) struct Country {
    pub(super) label: &'static str,
    pub(super) part: &'static str,
    pub(super) continent: &'static str,
    /// How many of 10,000 people were born in the country.
    pub(super) people: u64,
    /// The row of [`RACES`] that fits people born there.
    pub(super) like: usize,
    /// Their schooling: 0 less than usual, 1 usual, 2 more.
    pub(super) schooling: usize,
}

/// Weights of races, in the order of the study: white, black, asian, indigenous, pacific, mixed,
/// another.
pub(super) const RACES: [[u64; 7]; 6] = [
    [720, 110, 45, 38, 4, 70, 13],   // the country itself
    [930, 20, 12, 0, 0, 26, 12],     // Europe
    [40, 900, 8, 0, 0, 40, 12],      // Africa, the Caribbean
    [10, 2, 950, 0, 6, 24, 8],       // Asia
    [350, 60, 10, 130, 2, 330, 118], // Latin America
    [380, 5, 90, 60, 400, 55, 10],   // the Pacific
];

const fn c(
    label: &'static str,
    part: &'static str,
    continent: &'static str,
    people: u64,
    like: usize,
    schooling: usize,
) -> Country {
    Country {
        label,
        part,
        continent,
        people,
        like,
        schooling,
    }
}

#[rustfmt::skip]
pub(super) const COUNTRIES: [Country; 44] = [
    c("Canada", "northern America", "America", 7650, 0, 1),
    c("United States", "northern America", "America", 130, 0, 2),
    c("Mexico", "middle America", "America", 62, 4, 0),
    c("Guatemala", "middle America", "America", 14, 4, 0),
    c("El Salvador", "middle America", "America", 24, 4, 0),
    c("Jamaica", "Caribbean", "America", 62, 2, 1),
    c("Haiti", "Caribbean", "America", 44, 2, 0),
    c("Trinidad", "Caribbean", "America", 26, 2, 1),
    c("Colombia", "southern America", "America", 42, 4, 1),
    c("Brazil", "southern America", "America", 28, 4, 2),
    c("Chile", "southern America", "America", 16, 4, 1),
    c("Peru", "southern America", "America", 15, 4, 1),
    c("Britain", "western Europe", "Europe", 160, 1, 1),
    c("France", "western Europe", "Europe", 62, 1, 2),
    c("Germany", "western Europe", "Europe", 68, 1, 1),
    c("Netherlands", "western Europe", "Europe", 36, 1, 1),
    c("Ireland", "western Europe", "Europe", 20, 1, 1),
    c("Italy", "southern Europe", "Europe", 88, 1, 0),
    c("Portugal", "southern Europe", "Europe", 58, 1, 0),
    c("Greece", "southern Europe", "Europe", 24, 1, 0),
    c("Poland", "eastern Europe", "Europe", 70, 1, 1),
    c("Ukraine", "eastern Europe", "Europe", 44, 1, 2),
    c("Romania", "eastern Europe", "Europe", 38, 1, 2),
    c("Russia", "eastern Europe", "Europe", 34, 1, 2),
    c("India", "southern Asia", "Asia", 270, 3, 2),
    c("Pakistan", "southern Asia", "Asia", 84, 3, 1),
    c("Sri Lanka", "southern Asia", "Asia", 50, 3, 1),
    c("Bangladesh", "southern Asia", "Asia", 28, 3, 1),
    c("China", "eastern Asia", "Asia", 240, 3, 1),
    c("Hong Kong", "eastern Asia", "Asia", 78, 3, 2),
    c("Korea", "eastern Asia", "Asia", 46, 3, 2),
    c("Japan", "eastern Asia", "Asia", 14, 3, 2),
    c("Philippines", "south-eastern Asia", "Asia", 200, 3, 2),
    c("Viet Nam", "south-eastern Asia", "Asia", 62, 3, 0),
    c("Iran", "western Asia", "Asia", 62, 1, 2),
    c("Syria", "western Asia", "Asia", 34, 1, 0),
    c("Lebanon", "western Asia", "Asia", 30, 1, 1),
    c("Nigeria", "western Africa", "Africa", 46, 2, 2),
    c("Ghana", "western Africa", "Africa", 14, 2, 1),
    c("Ethiopia", "eastern Africa", "Africa", 22, 2, 0),
    c("Somalia", "eastern Africa", "Africa", 18, 2, 0),
    c("Morocco", "northern Africa", "Africa", 32, 1, 1),
    c("Fiji", "islands of the Pacific", "Oceania", 12, 5, 0),
    c("Australia", "southern Pacific", "Oceania", 13, 1, 2),
];
