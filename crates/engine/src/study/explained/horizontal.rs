//! Disclosures of runs among sites that hold different people, and of questions about their table.

use super::{Explained, Learners, all, to};

pub(super) const EXPLAINED: &[Explained] = &[
    all(
        "records of the whole table",
        "How many records all sites have together.",
        "How many records all the others have together: the total less its own. The release shows the total too.",
    ),
    all(
        "which sites hold more than the agreed share of all records",
        "Of each site, whether it holds more than the share of all records that the sites agreed on.",
        "Which hospital is the large one. No number is told here; with two sites, the number of all records tells the other's.",
    ),
    all(
        "ranges of the whole table",
        "The least and the greatest value of each quasi-identifier that occurs at any site.",
        "That somebody has this value, such as the age of the oldest patient of all sites; at which site is not told. With two sites, a value that is not its own is the other's.",
    ),
    all(
        "ranges of the whole table, finer than the nodes classes are written as",
        "The least and the greatest value of each quasi-identifier that occurs at any site, more exactly than the release writes values.",
        "That somebody has this value, such as the exact age of the oldest patient of all sites, which the release does not say; at which site is not told. With two sites, a value that is not its own is the other's.",
    ),
    all(
        "sensitive counts of the whole table",
        "How often each sensitive value occurs at all sites together.",
        "How often it occurs at all other sites together: the total less its own. The release shows the totals too.",
    ),
    all(
        "medians of classes",
        "The value at which a class is cut in two, for each cut.",
        "That about as many people of the class lie below the value as above. The borders of the classes in the release show the cuts too.",
    ),
    all(
        "medians of classes, finer than the nodes they are written as",
        "The exact value at which a class is cut in two, where the release writes wider values.",
        "Where within the published value the middle of a class lies, which the release does not say.",
    ),
    all(
        "medians of every attribute of classes",
        "The middle value of each quasi-identifier in each class, also of those along which the class is not cut.",
        "More about how values spread within a class than the release says, of all sites' people together.",
    ),
    all(
        "sizes and sensitive counts of parts",
        "How many records each part of a cut has, and how often each sensitive value occurs there, of all sites together.",
        "The others' records in a part: the number less its own. The parts are unions of classes of the release, which shows these numbers too.",
    ),
    all(
        "sizes and sensitive counts of parts of possible cuts",
        "For each cut that could be made, how many records its parts would have, and how often each sensitive value would occur there.",
        "Numbers about groups that are not in the release: the others' records in a group are the number less its own, and can be few.",
    ),
    all(
        "cuts between sites, with sizes and sensitive counts of their parts",
        "How many records of a class the first sites of a list have together, and their sensitive values.",
        "How many records a site or a few sites have in a class, and which sensitive values: this speaks of sites, which the release never does.",
    ),
    all(
        "cuts that were refused, with sizes and sensitive counts of their parts",
        "How many records the parts of a cut would have had that was not made, and their sensitive values.",
        "Numbers about groups too small or too alike to be published, down to a single person of all sites. The release does not say them.",
    ),
    all(
        "records at and below medians",
        "How many records of a class have exactly the value at which it is cut, and how many a lesser one.",
        "How many people share one value, more exactly than the release says.",
    ),
    all(
        "ranges of classes",
        "The least and the greatest value that occurs in each class.",
        "That somebody in the class has this value, which the release need not say; at which site is not told. With two sites, a value that is not its own is the other's.",
    ),
    all(
        "parts with records of enough sites",
        "Of each part of a cut, whether as many sites have records in it as the study demands.",
        "That a part has people of few sites; which, is not told. A site with records there knows itself to be one of these: where two sites are demanded, a no tells it that nobody else has any.",
    ),
    all(
        "parts whose records are spread over sites as demanded",
        "Of each part of a cut, whether its records are spread over the sites as evenly as the study demands.",
        "That some sites have nearly all of a part; not which sites.",
    ),
    all(
        "entropies of sites in parts",
        "For each part of a possible cut, a number that says how evenly its records are spread over the sites.",
        "Together with its own records, how many the others have in a part at most and at least.",
    ),
    all(
        "of two possible cuts, whether the second is clearly more even over sites or better by equation 3",
        "Of two possible cuts, which one spreads records more evenly over the sites.",
        "A hint on how people are spread over sites; no number.",
    ),
    all(
        "thresholds on parts without the records of a coalition",
        "Of each part of a cut and each group of sites that might collude: whether the requirement still holds without the records of these sites.",
        "Whether the other sites have none, too few, or enough records there, and which sensitive values they still have, or have more often than the whole table: yes or no, never how many. Where only one site is outside the group, this speaks of that named site; where two are, and one of these has no records there, that one learns it of the other.",
    ),
    all(
        "parts that withstand any m sites, and their sensitive values that more than m sites have",
        "Of each part, whether it holds whichever m sites take their records away, and which of its sensitive values more than m sites have.",
        "That a sensitive value of the part comes from few sites; not from which.",
    ),
    all(
        "which sites have records in parts whose coalitions are looked at",
        "Which sites have any records in a part.",
        "That a named site has a patient like this. The study allows it with contributors = true.",
    ),
    all(
        "generalized records of classes",
        "How the quasi-identifiers of each class are written in the release.",
        "What every reader of the release sees.",
    ),
    all(
        "classes, with their sizes, that the release writes alike",
        "Classes that were cut apart and read the same in the release, each with its size.",
        "That such a group of the release is made of smaller groups, and how large these are: each still satisfies the requirement.",
    ),
    all(
        "sensitive and other values of classes",
        "The sensitive values, and those of columns that are published as they are, in each class.",
        "What every reader of the release sees. Nobody learns which value comes from which site; a site knows its own, and so which are others'.",
    ),
    all(
        "values of quasi-identifiers below and above which one record in 300 lies, or fewer than k",
        "Of each ordered quasi-identifier, the value below which one record in 300 of all sites lies, or fewer than k where that is more, and the value above which as many lie.",
        "Where the youngest and the oldest few people of all sites begin, such as an age; not whose they are, nor their exact values.",
    ),
    all(
        "records with rare values, and those of them that end their class",
        "How many records of all sites have such a rare value, and of how many of them a class of the release shows it exactly.",
        "How many of the others do: the number less its own.",
    ),
    all(
        "greatest share of others' records that one site gets below k, in millionths",
        "The greatest share of others' records that some site could lay bare by taking its own away from the release.",
        "That some site could do so, and how far; not which. With two sites, a share that is not its own is the other's.",
    ),
    all(
        "classes of which k records are left without each two sites",
        "Of each class and each two sites, whether k records are left when both take their own away.",
        "Whether the other sites have fewer than k records there. With three sites, this speaks of the third, named site.",
    ),
    all(
        "whether two sites get more than a few shares of others' records below k",
        "For each of a few shares, whether some two sites could lay bare more of the others' records by taking their own away.",
        "That some two sites could do so, and between which shares; not which two.",
    ),
    all(
        "which earlier releases of the study every site has",
        "Of each earlier run, whether every site still has its release, and whether no site has one.",
        "That some site has lost a release that others have; not which site.",
    ),
    all(
        "intersections of classes of several releases that have at least k records",
        "Where a class of this release and a class of an earlier one overlap, whether at least k records of all sites lie in both.",
        "That few or no people are in both classes, which whoever has both releases would like to know; a site with records there knows that few others are.",
    ),
    all(
        "intersections that may have fewer than k records of an earlier release, since others fit its classes too",
        "For each such overlap, whether so many people fit the earlier class beside it that fewer than k of those who were there may be in both.",
        "That people came since who fit an earlier class, and about where.",
    ),
    all(
        "classes of the release that at least k records fit best",
        "For each class of this release, whether at least k records of all sites fit it better than any other class.",
        "Where the release's classes overlap so much that its records cannot be told apart; nothing where they do not.",
    ),
    all(
        "records that are in all releases, and those in intersections of fewer than k, surely or maybe, and in classes that fewer than k fit",
        "How many records of all sites earlier releases cover, how many of these share their classes in all releases with fewer than k, surely or maybe, and how many are in classes that fewer than k records fit.",
        "How many of the others do: the number less its own.",
    ),
    all(
        "values of quasi-identifiers that occur",
        "Which values of each quasi-identifier occur at any site.",
        "That somebody has a rare value, such as a profession; at which site is not told. With two sites, a value that is not its own is the other's.",
    ),
    all(
        "counts of the values of quasi-identifiers",
        "How often each value of each quasi-identifier occurs at all sites together.",
        "How many people of the others have a value, also a rare one: the number less its own.",
    ),
    all(
        "sizes and sensitive counts of clusters",
        "After each step, how many records each cluster has and, where the requirement speaks of them, which sensitive values how often.",
        "From one step to the next, what the site in its turn has moved, so now and then the sensitive value of one record. More than the release says, and nobody's name.",
    ),
    all(
        "sizes of clusters",
        "After each step, how many records each cluster has.",
        "How many records the site in its turn has moved in and out. More than the release says; no sensitive value.",
    ),
    all(
        "closures of clusters",
        "After each step, how the quasi-identifiers of each cluster would be written.",
        "When a value becomes wider or narrower, that the site in its turn has a record near that border.",
    ),
    all(
        "clusters that a site asks about in its turn",
        "From which clusters the site in its turn may take a record, and for which attributes.",
        "That this site has records in these clusters.",
    ),
    all(
        "records that all sites together looked at in an iteration",
        "How many records the sites together looked at in one round of turns.",
        "How many the others looked at together: the number less its own.",
    ),
    all(
        "closures of clusters without a record",
        "How a cluster would be written without the record that a site may take from it.",
        "Where the cluster becomes narrower: the generalized value that only this record of the site makes necessary.",
    ),
    all(
        "narrower clusters that enough records would save in, and how much",
        "Of groups narrower than a cluster, whether enough records of all sites fit there and would be written more exactly, and by how much.",
        "That at least so many people lie in a narrower region than the release writes; not whose they are.",
    ),
    all(
        "sizes, sensitive counts and closures of clusters that were tried",
        "How many records a cluster would have that was tried, its sensitive values and how it would be written, also where it was not kept.",
        "Numbers about groups that the release does not show: the others' records there are the number less its own.",
    ),
    all(
        "values and combinations of values that at least l sites support",
        "Which values, and combinations of values, as many sites have as the study demands.",
        "That a value, or a combination, is at few sites; which, is not told. A site that has it knows itself to be one of these: where two sites are demanded, that nobody else has it.",
    ),
    all(
        "whether clusters satisfy the demands on sensitive values, as they are or would be",
        "Of each cluster, yes or no: whether its sensitive values satisfy the requirement, now or after a move.",
        "If no, that sensitive values there are too alike. A site knows its own among these, and over many moves the answers narrow down the sensitive values of others' records. No count of a sensitive value.",
    ),
    all(
        "clusters that would lose or gain a record",
        "Which clusters the site in its turn would take a record from, and which it would put a record into.",
        "That this site has a record in the one cluster that fits into the other.",
    ),
    to(
        Learners::Next,
        "running extremes of each lap",
        "The greatest or least value so far, disguised at random in the first laps, as it goes around the ring.",
        "With some chance, a bound of the value of the site before it, as JX08 works it out. Only at the published level.",
    ),
    all(
        "records at or below each candidate of the search",
        "In the search for a median, how many records of all sites lie at or below each value that is tried.",
        "How values spread within a class, more exactly than the release says. Only at the published level.",
    ),
    to(
        Learners::Next,
        "items on their way around the ring",
        "The list of values that the sites before have put in, as it goes around the ring.",
        "With some chance, which values come from the first sites of the ring. Only at the published level.",
    ),
    to(
        Learners::Asker,
        "totals of a question",
        "The totals that answer a question: counts and sums over all sites' records.",
        "The others' part of each total: the total less its own. A question about few records can tell of one person.",
    ),
    all(
        "how many rows a question finds",
        "How many rows of all sites answer a question.",
        "How many rows of the others do: the number less its own.",
    ),
    all(
        "rows of a question",
        "The rows that answer a question, generalized as the table of all sites writes them.",
        "These rows, and which of them are not its own; not whose they are where there are three sites or more.",
    ),
];
