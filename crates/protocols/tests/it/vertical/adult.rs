//! Adult with the quasi-identifiers of D2PT (section 4), split over two to four sites.
