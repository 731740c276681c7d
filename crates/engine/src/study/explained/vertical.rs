//! Disclosures of runs among sites that hold the same people.

use super::{Explained, Learners, all, to};

pub(super) const EXPLAINED: &[Explained] = &[
    to(
        Learners::Each,
        "which of a site's records all sites hold",
        "Which of the site's own people all sites know.",
        "Of each of its own people, whether all other sites know the person too: a patient of the clinic is insured with the insurer. Of people whom it does not know, nothing.",
    ),
    all(
        "number of identifiers of each site",
        "How many people each site has.",
        "The size of each institution.",
    ),
    to(
        Learners::Comparer,
        "encrypted identifiers, hence sizes of overlaps",
        "Encrypted identifiers, from which follows how many people any sites have in common.",
        "How many people sites share, in any combination. Whose the identifiers are, the site cannot tell; together with another site it can tell which of that site's people each site knows.",
    ),
    all(
        "whether the whole table satisfies the requirement at every site",
        "Yes or no: whether all people together satisfy the requirement.",
        "If no, that the requirement cannot be met, and the run ends.",
    ),
    all(
        "how many values each quasi-identifier ranges over in the whole table",
        "How many values lie between the least and the greatest of each quasi-identifier.",
        "How far apart the extremes are, such as 80 years of age; not where they lie.",
    ),
    all(
        "sites that cut classes, by who has the widest quasi-identifier",
        "Of each class, which site cuts it: the one with the widest quasi-identifier there.",
        "That this site's column still varies more in the class than the columns of the others. No value.",
    ),
    all(
        "people of classes who go left in a cut",
        "Of each person of a class that is cut, to which side the person goes.",
        "Every site knows who the people are, so it learns of its own patients who lies on which side of a value of another site's column. Which site cuts is told, so where that site holds one quasi-identifier the column is known, and of a column with two values the side is the value. Otherwise the value follows only from how the release writes the class.",
    ),
    all(
        "whether the parts of cuts satisfy the requirement at every site",
        "Yes or no: whether both parts of a cut satisfy the requirement on the other sites' sensitive columns.",
        "If no, that the sensitive values of a part are too alike at some site. No value.",
    ),
    all(
        "people who would have gone left in cuts that were refused",
        "Of each person of a class, to which side of a cut the person would have gone that was not made.",
        "As for cuts that are made, and the release does not show it. The middle value is tried on the left side and then on the right one, so two refusals single out the people who have exactly this value; of a column with two values the side is the value, also where the release writes neither. The sensitive values of a side may be too alike.",
    ),
    all(
        "generalized quasi-identifiers of classes of the same people",
        "How the quasi-identifiers of each class are written in the release.",
        "What every reader of the release sees. A site knows which of its people are in which class, so it learns the others' generalized values of each of its people.",
    ),
    all(
        "sensitive and other values of classes of the same people",
        "The sensitive values, and those of columns that are published as they are, in each class.",
        "What every reader of the release sees. A site knows which of its people are in which class, so it learns that one of these values is each person's, and not which.",
    ),
    all(
        "random words that the pivot draws for start, order and splits",
        "Random numbers, from which the order of the work follows.",
        "Nothing about anybody.",
    ),
    all(
        "clusters that records are dealt to at the start, and halves of split clusters",
        "Which person is put into which cluster at the start, by the site with the first sensitive column.",
        "People are dealt so that sensitive values differ within a cluster: that people of one cluster probably do not share their sensitive value.",
    ),
    to(
        Learners::First,
        "changes of the loss when records leave or join clusters, and when clusters are united",
        "By how much the loss of exactness of all sites together would change if a person moved to another cluster, or clusters were united, and how it changes from step to step.",
        "How near a person, or a cluster, is to other people in the others' columns taken together. With two sites it is the other site's number alone, from which values of a person can be narrowed down.",
    ),
    to(
        Learners::First,
        "what a record adds to the loss of each cluster at least",
        "How exactly each cluster is written in all sites' columns together.",
        "How much the people of a cluster differ in the others' columns taken together. No value.",
    ),
    all(
        "clusters that records may move to with a saving, by what the pivot knows",
        "Of each person, which clusters the person may move to.",
        "That the person may be like the people of these clusters in some columns.",
    ),
    all(
        "clusters that records move to, and records that wait",
        "Which person moves to which cluster.",
        "Every site knows who the people are, so it learns of its own patients who are like each other in all sites' columns together.",
    ),
    all(
        "clusters that are united",
        "Which clusters become one.",
        "That the people of both are like each other in all sites' columns together.",
    ),
    all(
        "whether moves, splits and clusters satisfy the requirement at every site",
        "Yes or no: whether a move, a split or a cluster satisfies the requirement on every site's sensitive columns.",
        "If no, that sensitive values there would be too alike at some site, which over many moves narrows down the sensitive values of a person.",
    ),
    all(
        "whether an iteration brought so little that it is the last",
        "Yes or no: whether the work goes on.",
        "Nothing about anybody.",
    ),
    all(
        "whether a start ended better than those before it",
        "Yes or no: whether this attempt ended better than those before.",
        "Nothing about anybody.",
    ),
    all(
        "generalized quasi-identifiers of clusters",
        "How the quasi-identifiers of each cluster are written in the release.",
        "What every reader of the release sees. A site knows which of its people are in which cluster, so it learns the others' generalized values of each of its people.",
    ),
    all(
        "sensitive and other values of clusters",
        "The sensitive values, and those of columns that are published as they are, in each cluster.",
        "What every reader of the release sees. A site knows which of its people are in which cluster, so it learns that one of these values is each person's, and not which.",
    ),
    all(
        "sizes of classes and of their overlaps",
        "How many people lie in each combination of the sites' classes.",
        "How people of one site's classes are spread over another site's classes. Where a class of its own meets only one class of another site, all its people are in that class.",
    ),
    all(
        "classes that sites join to synchronize again",
        "Which of its classes a site joined, and how many sites could join more.",
        "That the site's columns are written less exactly now; nothing for a person.",
    ),
    all(
        "cuts of classes, person by person, also those that are refused",
        "Of each person, in which cut of all sites' classes together the person lies, also in attempts that were refused.",
        "Every site knows who the people are, so it learns of its own patients who are in one class at every site; attempts that were refused can be groups of very few.",
    ),
    to(
        Learners::WithoutQuasi,
        "groups of the records of a site without quasi-identifiers",
        "In which group each of its people is.",
        "Who of its own people are alike in the others' columns.",
    ),
    to(
        Learners::Each,
        "groups of a site's own people, also those that are refused",
        "In which group each of its own people is, also in attempts that were refused.",
        "Who of its own people are alike in all sites' columns together, which the release does not say.",
    ),
    all(
        "whether the groups satisfy the requirement at every site",
        "Yes or no: whether all groups satisfy the requirement at every site.",
        "If no, that sensitive values are too alike in some group. No value.",
    ),
    all(
        "groups, with their sizes, that did not satisfy the requirement",
        "How many people each group of an attempt has that was refused.",
        "Numbers about groups that the release does not show.",
    ),
    all(
        "generalized quasi-identifiers of groups",
        "How the quasi-identifiers of each group are written in the release.",
        "What every reader of the release sees. A site knows the group of each of its people, so it learns the others' generalized values of each of them.",
    ),
    all(
        "original quasi-identifiers of records in groups",
        "The exact quasi-identifiers of the people of each group, as the release prints them.",
        "What every reader of the release sees. A site that recognizes a person by its own columns learns the person's exact values at the other sites.",
    ),
    all(
        "sensitive and other values of groups",
        "The sensitive values, and those of columns that are published as they are, in each group.",
        "What every reader of the release sees. A site knows the group of each of its people, so it learns that one of these values is each person's, and not which.",
    ),
];
