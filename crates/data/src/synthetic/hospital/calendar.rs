//! When people come to a hospital, and at what age.

/// Ages drawn are below this.
pub(super) const AGES: usize = 105;

/// Days from 2024-01-01, a Monday, to 2025-12-31.
pub(super) const DAYS: u64 = 731;

/// Of a hundred patients of each age band, how many are female.
pub(super) const FEMALE: [u32; 11] = [48, 45, 46, 56, 62, 55, 48, 46, 47, 53, 64];

/// How often people of an age are in hospital, times the number of people of that age: straight lines
/// between known ages.
pub(super) fn age_weight(age: u64) -> u64 {
    const KNOWN: [(u64, u64); 13] = [
        (0, 3200),
        (1, 520),
        (4, 260),
        (10, 170),
        (18, 380),
        (31, 720),
        (42, 560),
        (58, 980),
        (70, 1150),
        (81, 1500),
        (90, 640),
        (98, 70),
        (105, 1),
    ];
    let above = KNOWN.iter().position(|(known, _)| age < *known);
    let above = above.unwrap_or(KNOWN.len() - 1).max(1);
    let ((low, from), (high, to)) = (KNOWN[above - 1], KNOWN[above]);
    (from * (high - age) + to * (age - low)) / (high - low)
}

/// The month of a day since 2024-01-01, counted from 0.
fn month(day: u64) -> u8 {
    // 2024 has 366 days.
    let (day, february) = if day < 366 {
        (day, 29)
    } else {
        (day - 366, 28)
    };
    let mut left = day;
    for (month, days) in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        .into_iter()
        .enumerate()
    {
        if left < days {
            return month as u8;
        }
        left -= days;
    }
    11
}

/// How many are admitted on a day: fewer at weekends, more in winter.
pub(super) fn day_weight(day: u64) -> u64 {
    let weekday = [21, 20, 18, 18, 15, 9, 8][(day % 7) as usize];
    let season = [23, 22, 21, 20, 19, 19, 18, 18, 19, 20, 21, 21][usize::from(month(day))];
    weekday * season
}

/// The quarter of the year that a day lies in: 0 is winter, from December to February.
pub(super) fn quarter(day: u64) -> u8 {
    (month(day) + 1) / 3 % 4
}
