//! Blank lines of a file with one column: each is an empty value, which CSV readers would skip.

use std::io::{self, BufRead, Read};

/// Passes bytes on, with `""` put into every blank line.
pub(super) struct BlankLines<R> {
    input: R,
    in_quotes: bool,
    at_start: bool,
    previous: u8,
}

impl<R: BufRead> BlankLines<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            in_quotes: false,
            // A blank line before the header is no value.
            at_start: false,
            previous: 0,
        }
    }
}

impl<R: BufRead> Read for BlankLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.input.fill_buf()?;
        let (mut taken, mut written) = (0, 0);
        // A blank line needs room for three bytes; csv reads with far larger buffers.
        while taken < available.len() && written + 3 <= buffer.len() {
            let byte = available[taken];
            let ends_line = matches!(byte, b'\n' | b'\r') && !self.in_quotes;
            let is_crlf = byte == b'\n' && self.previous == b'\r';
            if ends_line && self.at_start && !is_crlf {
                buffer[written..written + 2].copy_from_slice(b"\"\"");
                written += 2;
            }
            self.in_quotes ^= byte == b'"';
            self.at_start = ends_line;
            self.previous = byte;
            buffer[written] = byte;
            written += 1;
            taken += 1;
        }
        self.input.consume(taken);
        Ok(written)
    }
}
