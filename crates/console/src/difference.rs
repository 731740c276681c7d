//! What changed between two texts, line by line: the longest lines that both have in order stay, the others are
//! gone or new (the usual table of longest common subsequences, within bounds).

/// Cells of the table; texts that would take more differ as a whole between their common beginning and end.
const MOST: usize = 4_000_000;
/// Lines that are shown around a change.
const AROUND: usize = 2;

/// A line of the difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line<'t> {
    /// Both texts have the line.
    Same(&'t str),
    /// The old text alone has the line.
    Gone(&'t str),
    /// The new text alone has the line.
    New(&'t str),
    /// So many lines that both texts have are left out.
    Left(usize),
}

/// The lines that changed, with a few around them; nothing where the texts are the same.
pub(crate) fn difference<'t>(old: &'t str, new: &'t str) -> Vec<Line<'t>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let pairs = || old.iter().zip(&new);
    let begin = pairs().take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - begin;
    let ends = old.iter().rev().zip(new.iter().rev());
    let end = ends
        .take(rest)
        .take_while(|(one, other)| one == other)
        .count();
    let (middle_old, middle_new) = (&old[begin..old.len() - end], &new[begin..new.len() - end]);
    if middle_old.is_empty() && middle_new.is_empty() {
        return Vec::new();
    }
    let mut lines: Vec<Line<'t>> = old[..begin].iter().map(|line| Line::Same(line)).collect();
    changed(middle_old, middle_new, &mut lines);
    lines.extend(old[old.len() - end..].iter().map(|line| Line::Same(line)));
    shortened(lines)
}

fn changed<'t>(old: &[&'t str], new: &[&'t str], lines: &mut Vec<Line<'t>>) {
    let width = new.len() + 1;
    if (old.len() + 1).saturating_mul(width) > MOST {
        lines.extend(old.iter().map(|line| Line::Gone(line)));
        lines.extend(new.iter().map(|line| Line::New(line)));
        return;
    }
    // longest[i][j]: lines in common of old[i..] and new[j..].
    let mut longest = vec![0u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * width + j] = match old[i] == new[j] {
                true => longest[(i + 1) * width + j + 1] + 1,
                false => longest[(i + 1) * width + j].max(longest[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            lines.push(Line::Same(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            lines.push(Line::Gone(old[i]));
            i += 1;
        } else {
            lines.push(Line::New(new[j]));
            j += 1;
        }
    }
    lines.extend(old[i..].iter().map(|line| Line::Gone(line)));
    lines.extend(new[j..].iter().map(|line| Line::New(line)));
}

/// Leaves out lines that are the same, but for those near a change.
fn shortened(lines: Vec<Line<'_>>) -> Vec<Line<'_>> {
    let is_same = |line: &Line<'_>| matches!(line, Line::Same(_));
    let mut is_near = vec![false; lines.len()];
    for place in (0..lines.len()).filter(|place| !is_same(&lines[*place])) {
        let last = (place + AROUND).min(lines.len() - 1);
        is_near[place.saturating_sub(AROUND)..=last].fill(true);
    }
    let mut kept = Vec::new();
    let mut left = 0;
    for (line, is_near) in lines.into_iter().zip(is_near) {
        if !is_near {
            left += 1;
            continue;
        }
        if left > 0 {
            kept.push(Line::Left(std::mem::take(&mut left)));
        }
        kept.push(line);
    }
    if left > 0 {
        kept.push(Line::Left(left));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The old text and the new, read off a difference that leaves nothing out.
    fn texts(lines: &[Line<'_>]) -> (Vec<String>, Vec<String>) {
        let of = |is_old: bool| {
            let lines = lines.iter().filter_map(|line| match line {
                Line::Same(text) => Some((*text).to_owned()),
                Line::Gone(text) => is_old.then(|| (*text).to_owned()),
                Line::New(text) => (!is_old).then(|| (*text).to_owned()),
                Line::Left(_) => None,
            });
            lines.collect::<Vec<_>>()
        };
        (of(true), of(false))
    }

    #[test]
    fn what_changed_is_told_with_a_few_lines_around() {
        let old: String = (0..40).map(|number| format!("line {number}\n")).collect();
        let new = old.replace("line 20\n", "line twenty\nand more\n");
        let lines = difference(&old, &new);
        let expected = [
            Line::Left(18),
            Line::Same("line 18"),
            Line::Same("line 19"),
            Line::Gone("line 20"),
            Line::New("line twenty"),
            Line::New("and more"),
            Line::Same("line 21"),
            Line::Same("line 22"),
            Line::Left(17),
        ];
        assert_eq!(lines, expected);
        assert!(difference(&old, &old).is_empty());
        assert_eq!(difference("", "a\n"), [Line::New("a")]);
        assert_eq!(difference("a\n", ""), [Line::Gone("a")]);
    }

    /// Both texts can be read off every difference of short texts of two letters.
    #[test]
    fn a_difference_has_both_texts_in_it() {
        let text = |number: u32, length: u32| -> String {
            let letter = |place: u32| {
                if number >> place & 1 == 0 {
                    "a\n"
                } else {
                    "b\n"
                }
            };
            (0..length).map(letter).collect()
        };
        for (one, other) in (0..16u32).flat_map(|one| (0..8u32).map(move |other| (one, other))) {
            let (old, new) = (text(one, 4), text(other, 3));
            let (old_lines, new_lines): (Vec<&str>, Vec<&str>) =
                (old.lines().collect(), new.lines().collect());
            let mut lines = Vec::new();
            changed(&old_lines, &new_lines, &mut lines);
            let (read_old, read_new) = texts(&lines);
            assert_eq!(
                (read_old, read_new),
                (
                    old_lines.iter().map(|line| (*line).to_owned()).collect(),
                    new_lines.iter().map(|line| (*line).to_owned()).collect(),
                )
            );
        }
    }
}
