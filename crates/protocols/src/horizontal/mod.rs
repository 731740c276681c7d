//! Sites hold different people and the same columns.

pub mod m_privacy;
